// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bus/decider/decider_frames.h"
#include "policies/registry.h"
#include "scheduling/policy.h"

namespace starling {

struct ExternalOptions {
  std::string endpoint;  ///< ipc://PATH or tcp://127.0.0.1:PORT
  Duration timeout{0};   ///< in which advice has to be there
  bool wait = false;     ///< decide() itself waits: for simulations
};

/// Asks a process of this machine, in any language, what to do (decider.fbs): requests of a ZeroMQ
/// DEALER, which a REP answers. Whatever that process does, or does not, costs quality and never
/// safety: advice that is late, damaged or of another question is dropped and counted, and
/// `fallback` decides in its place.
///
/// Without `wait` decide() never waits: it notes the question, which learn() sends after the step,
/// and answers with the advice that has come since, if nothing has changed meanwhile; with nothing
/// while there is time; then as `fallback` does. While a question is open it asks to be called
/// again each quarter of the time-out, else each second. With `wait` it is as deterministic as the
/// decider.
class ExternalPolicy final : public Policy {
 public:
  ExternalPolicy(ExternalOptions options, std::unique_ptr<Policy> fallback);
  ~ExternalPolicy() override;

  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override;
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    return fallback_->explain_now(view, job);
  }

  // The fallback learns as it does alone.
  void refused(const Feedback& feedback) override;
  [[nodiscard]] Instant ask_again_at() const override { return fallback_->ask_again_at(); }
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override {
    return fallback_->save(origin);
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override {
    return fallback_->restore(memory, origin);
  }
  [[nodiscard]] std::uint32_t memory_version() const noexcept override {
    return fallback_->memory_version();
  }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return fallback_->learned(); }
  void learn() override;

  struct Counts {
    std::uint64_t asked = 0, taken = 0, fell_back = 0, damaged = 0, late = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

  static const PolicyFacts kFacts;

 private:
  class Link;
  struct Question {
    std::uint64_t number = 0, state = 0;
    Instant at;
    std::vector<std::byte> bytes;
    bool sent = false, over = false;  ///< over: it was acted upon
  };
  std::optional<DeciderAdvice> take(const Topology& topology, Duration wait);
  void ask();
  /// Rounds are as frequent as answers are awaited.
  void set_round();

  ExternalOptions options_;
  std::unique_ptr<Policy> fallback_;
  PolicyFacts facts_;
  std::unique_ptr<Link> link_;
  Question question_;
  Counts counts_;
  std::uint64_t number_ = 0;
  bool by_fallback_ = false;  ///< the last decisions
};

/// `external`, whose fallback is one of those that `registry` has now.
void add_external(PolicyRegistry& registry);

}  // namespace starling
