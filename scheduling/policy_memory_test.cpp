// SPDX-License-Identifier: Apache-2.0
#include "scheduling/policy_memory.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "base/rng.h"
#include "scheduling/memory_bytes.h"

namespace starling {
namespace {

/// Remembers one number and when it heard it.
class OneNumber final : public Policy {
 public:
  explicit OneNumber(std::string name = "one-number", std::uint32_t version = 1)
      : made_of(std::move(name)), version_(version) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View&, const Trigger&, Rng&) override {
    return {};
  }
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override {
    MemoryWriter out;
    out.number(number), out.instant(at, origin), out.text(text);
    return out.take();
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override {
    MemoryReader in(memory);
    const double read = in.number(0, 100);
    const Instant when = in.instant(origin);
    const std::string said = in.text(1U << 20U);
    if (!in.whole()) return {Errc::invalid, "no number"};
    number = read, at = when, text = said;
    return done();
  }
  [[nodiscard]] std::uint32_t memory_version() const noexcept override { return version_; }

  std::string made_of;
  double number = 0;
  Instant at;
  std::string text = "abc";

 private:
  PolicyFacts facts_;
  std::uint32_t version_;
};

std::string why(std::span<const std::byte> memory, OneNumber& policy) {
  const Status taken = unpack_memory(memory, policy, policy.made_of, Instant{});
  return taken.ok() ? "" : taken.error().message;
}

TEST_CASE("what a policy has learned comes back, its instants as the next life's clock has them") {
  OneNumber policy, next;
  policy.number = 42;
  policy.at = Instant(std::chrono::seconds(100));
  const auto memory =
      packed_memory(policy, policy.made_of, Instant(std::chrono::seconds(-1000))).value();
  REQUIRE(unpack_memory(memory, next, next.made_of, Instant(std::chrono::seconds(-1050))).ok());
  CHECK(next.number == 42);
  CHECK(next.at == Instant(std::chrono::seconds(50)));
  CHECK(unpack_memory({}, next, next.made_of, Instant{}).ok());
}

TEST_CASE("another's memory, or another version's, is left behind with a reason") {
  OneNumber policy, next("two-numbers"), later("one-number", 2);
  const auto memory = packed_memory(policy, policy.made_of, Instant{}).value();
  const std::string left = "what the policy had learned is left behind: ";
  CHECK(why(memory, next) == left + "it is that of one-number, not of two-numbers");
  CHECK(why(memory, later) == left + "it is of version 1, not of 2");
  // Options change what its numbers mean.
  OneNumber other("one-number:sharing=yes");
  CHECK(why(memory, other) == left + "it is that of one-number, not of one-number:sharing=yes");
  CHECK(other.number == 0);
  policy.number = 101;
  CHECK(why(packed_memory(policy, policy.made_of, Instant{}).value(), next = OneNumber{}) ==
        left + "no number");
  policy.text.assign(kMostPolicyMemory, 'x');
  const auto kept = packed_memory(policy, policy.made_of, Instant{});
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.error().message == "it is 524312 bytes, more than 524288");
}

TEST_CASE("damage of any kind is noticed, and changes nothing") {
  OneNumber policy;
  policy.number = 7;
  const auto memory = packed_memory(policy, policy.made_of, Instant{}).value();
  for (std::size_t size = 1; size < memory.size(); ++size) {
    OneNumber next;
    CHECK_FALSE(why(std::span(memory).first(size), next).empty());
    CHECK(next.number == 0);
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    OneNumber next;
    auto altered = memory;
    altered[i] ^= std::byte{1};
    CHECK_FALSE(why(altered, next).empty());
    CHECK(next.number == 0);
  }
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::byte> noise(1 + rng.below(200));
    for (std::byte& byte : noise) byte = static_cast<std::byte>(rng.below(256));
    OneNumber next;
    CHECK_FALSE(why(noise, next).empty());
  }
}

TEST_CASE("a reader never makes room for more than there is") {
  MemoryWriter out;
  out.word(std::numeric_limits<std::uint64_t>::max());
  MemoryReader numbers(out.bytes()), text(out.bytes()), count(out.bytes());
  CHECK(numbers.numbers(1U << 30U, 0, 1).empty());
  CHECK_FALSE(numbers.ok());
  CHECK(text.text(std::numeric_limits<std::size_t>::max()).empty());
  CHECK_FALSE(text.ok());
  CHECK(count.count(10, 2) == 0);
  CHECK_FALSE(count.ok());
  CHECK(count.word() == 0);
}

}  // namespace
}  // namespace starling
