#include "agents/message.h"

#include <array>

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
  }
  return "unknown";
}

const char* name_of(JobPhase phase) noexcept {
  switch (phase) {
    case JobPhase::unknown:
      return "unknown";
    case JobPhase::waiting:
      return "waiting";
    case JobPhase::starting:
      return "starting";
    case JobPhase::running:
      return "running";
    case JobPhase::draining:
      return "draining";
    case JobPhase::finished:
      return "finished";
    case JobPhase::failed:
      return "failed";
    case JobPhase::cancelled:
      return "cancelled";
    case JobPhase::moved:
      return "moved";
  }
  return "unknown";
}

const char* name_of(const Message& message) noexcept {
  // In the order of Message.
  constexpr std::array kNames = {
      "Hello",          "Welcome",          "Goodbye",     "Ping",
      "Pong",           "Digest",           "Submit",      "Accepted",
      "Busy",           "Rejected",         "Cancel",      "Query",
      "JobState",       "Explain",          "Explanation", "ListJobs",
      "JobList",        "StatusQuery",      "AgentStatus", "BidRequest",
      "Offer",          "NoOffer",          "Reserve",     "Reserved",
      "ReserveRefused", "Commit",           "Committed",   "CommitRefused",
      "StartAttempt",   "Started",          "Release",     "Released",
      "AttemptQuery",   "AttemptAnswer",    "Launch",      "LaunchResult",
      "Kill",           "Killed",           "Exited",      "ExitedAck",
      "Progress",       "InventoryRequest", "Inventory",   "Fenced",
      "ProbeFor",       "ProbeResult",      "GpuHealth",   "GpuHealthSeen",
      "SetDrain",       "DrainState"};
  static_assert(kNames.size() == std::variant_size_v<Message>);
  return message.valueless_by_exception() ? "none" : kNames[message.index()];
}

std::uint16_t wholly_said_in(const Message& message) noexcept {
  const bool grown =
      std::holds_alternative<Digest>(message) || std::holds_alternative<AgentStatus>(message) ||
      std::holds_alternative<BidRequest>(message) ||
      std::holds_alternative<AttemptQuery>(message) ||
      std::holds_alternative<AttemptAnswer>(message) || std::holds_alternative<Inventory>(message);
  return grown ? kNewestProtocol : protocol_of(message.index());
}

}  // namespace starling
