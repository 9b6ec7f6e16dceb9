// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "scheduling/policy.h"

namespace starling {

/// A policy that is not to be trusted: in the place of what a good one decides it answers garbage,
/// decisions against everyone, old decisions, the good ones in any order or by any allocation,
/// nothing, or late. Made to show that the ledger and the jobs refuse what is wrong.
class FaultyPolicy final : public Policy {
 public:
  /// Misbehaves with probability `bad` while `active` says so. `stall` makes a decision take time.
  FaultyPolicy(std::unique_ptr<Policy> good, double bad, bool slow, Rng rng,
               std::function<bool()> active, std::function<void(Duration)> stall)
      : good_(std::move(good)),
        bad_(bad),
        slow_(slow),
        rng_(rng),
        active_(std::move(active)),
        stall_(std::move(stall)) {}

  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return good_->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  void refused(const Feedback& feedback) override { good_->refused(feedback); }
  [[nodiscard]] Instant ask_again_at() const override { return good_->ask_again_at(); }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override;
  [[nodiscard]] std::vector<CoTenant> co_tenants(const View& view, const JobSpec& gang,
                                                 std::size_t most) override;
  [[nodiscard]] std::vector<std::size_t> choose_tenants(const View& view, const JobView& gang,
                                                        std::uint32_t free,
                                                        std::span<const CoTenant> offered) override;
  [[nodiscard]] std::span<const TypePrice> prices() const override { return good_->prices(); }

  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override {
    return good_->save(origin);
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override {
    return good_->restore(memory, origin);
  }
  [[nodiscard]] std::uint32_t memory_version() const noexcept override {
    return good_->memory_version();
  }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return good_->learned(); }
  void learn() override { good_->learn(); }

 private:
  [[nodiscard]] Placement any_gpus(const View& view, bool garbage);
  [[nodiscard]] Decision any_decision(const View& view);
  [[nodiscard]] Allocation any_allocation();

  std::unique_ptr<Policy> good_;
  double bad_;
  bool slow_;
  Rng rng_;
  std::function<bool()> active_;
  std::function<void(Duration)> stall_;
  std::vector<Decision> old_;
  Instant stopped_at_ = Instant::min();
};

}  // namespace starling
