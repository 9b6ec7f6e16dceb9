// SPDX-License-Identifier: Apache-2.0
#include "agents/message.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace starling {

const char* name_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::unknown:
      return "unknown";
    case Refusal::fenced:
      return "fenced";
    case Refusal::conflict:
      return "conflict";
    case Refusal::expired:
      return "expired";
    case Refusal::invalid:
      return "invalid";
    case Refusal::busy:
      return "busy";
    case Refusal::not_ready:
      return "not ready";
    case Refusal::never_fits:
      return "never fits";
    case Refusal::cancelled:
      return "cancelled";
    case Refusal::denied:
      return "denied";
  }
  return "unknown";
}

const char* name_of(JobChange change) noexcept {
  switch (change) {
    case JobChange::unknown:
      return "unknown";
    case JobChange::hold:
      return "hold";
    case JobChange::release:
      return "release";
    case JobChange::requeue:
    case JobChange::requeue_hold:
      return "requeue";
  }
  return "unknown";
}

Message::Message() noexcept = default;
Message::Message(const Message& other) = default;
Message::Message(Message&& other) noexcept = default;
Message& Message::operator=(const Message& other) = default;
Message& Message::operator=(Message&& other) noexcept = default;
Message::~Message() = default;

namespace {

/// The struct's name, from how the compiler writes this function: "... Kind = starling::Hello]".
template <class Kind>
constexpr auto spelled() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::size_t from = text.rfind("::") + 2, size = text.rfind(']') - from;
  std::array<char, size + 1> name{};
  std::copy_n(text.data() + from, size, name.data());
  return name;
}
template <class Kind>
constexpr auto kSpelled = spelled<Kind>();

template <std::size_t... I>
constexpr auto names_of_kinds(std::index_sequence<I...>) {
  return std::array{kSpelled<std::variant_alternative_t<I, MessageKinds>>.data()...};
}

}  // namespace

const char* name_of(const Message& message) noexcept {
  static constexpr std::array kNames =
      names_of_kinds(std::make_index_sequence<std::variant_size_v<MessageKinds>>{});
  return message.valueless_by_exception() ? "none" : kNames[message.index()];
}

std::uint16_t least_protocol_of(const Message& message) noexcept {
  const auto* commit = std::get_if<Commit>(&message);
  const auto* launch = std::get_if<Launch>(&message);
  const bool otherwise = (commit != nullptr && !commit->allocation.as_asked()) ||
                         (launch != nullptr && !launch->allocation.as_asked());
  if (const auto* submit = std::get_if<Submit>(&message);
      submit != nullptr && submit->forwards == 0 && submit->spec.terms.delays())
    return kTermsProtocol;
  return otherwise ? kAllocationProtocol : protocol_of(message.index());
}

std::uint16_t wholly_said_in(const Message& message) noexcept {
  if (const auto* digest = std::get_if<Digest>(&message)) {
    if (!digest->prices.empty()) return 5;
    if (!digest->rooms.empty()) return 3;
  }
  if (const auto* told = std::get_if<Digests>(&message)) {
    const auto priced = [](const Digests::Word& word) { return !word.digest.prices.empty(); };
    return std::ranges::any_of(told->words, priced) ? std::uint16_t{5} : std::uint16_t{4};
  }
  if (const auto* bid = std::get_if<BidRequest>(&message)) {
    if (bid->priority != 0) return 5;
    if (bid->gang > 0) return 4;
  }
  if (const auto* offer = std::get_if<Offer>(&message); offer && !offer->shared.empty()) return 4;
  if (const auto* hold = std::get_if<Reserve>(&message); hold && !hold->beside.empty()) return 4;
  if (const auto* far = std::get_if<Progress>(&message); far && (far->noise > 0 || far->batch > 0))
    return 5;
  const auto is_kept_back = [](const JobState& state) { return state.reason == JobReason::quota; };
  if (const auto* state = std::get_if<JobState>(&message); state && is_kept_back(*state))
    return kQueuesProtocol;
  if (const auto* list = std::get_if<JobList>(&message);
      list && std::ranges::any_of(list->jobs, is_kept_back))
    return kQueuesProtocol;
  const auto* accepted = std::get_if<Accepted>(&message);
  const auto* rejected = std::get_if<Rejected>(&message);
  if ((accepted && accepted->offer > 0) || (rejected && rejected->offer > 0)) return kOfferProtocol;
  const bool grown =
      std::holds_alternative<Digest>(message) || std::holds_alternative<AgentStatus>(message) ||
      std::holds_alternative<BidRequest>(message) ||
      std::holds_alternative<AttemptQuery>(message) ||
      std::holds_alternative<AttemptAnswer>(message) || std::holds_alternative<Inventory>(message);
  return grown ? std::uint16_t{2} : least_protocol_of(message);
}

}  // namespace starling
