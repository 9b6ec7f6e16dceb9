// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "scheduling/policy.h"

namespace starling {

/// A policy whose jobs change their sizes at random: gangs that it spreads over partitions get any
/// size that their jobs may have, elastic jobs that wait are spread now and then, and one that runs
/// is resized over partitions or at home, or stopped. All of that is what a policy may do; made to
/// show that jobs end well whatever sizes are chosen, and when.
class SizingPolicy final : public Policy {
 public:
  /// While `active` says so, about every `mean`, as far as it is asked. `sized`: called for each
  /// decision of its own.
  SizingPolicy(std::unique_ptr<Policy> good, Duration mean, Rng rng, std::function<bool()> active,
               std::function<void()> sized)
      : good_(std::move(good)),
        facts_(good_->facts()),
        mean_(mean),
        rng_(rng),
        active_(std::move(active)),
        sized_(std::move(sized)) {
    facts_.needs_running = true;
    facts_.by_end = false;
  }

  /// Those of the policy that it is made of, which need not look at what runs; this one does.
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  void refused(const Feedback& feedback) override { good_->refused(feedback); }
  [[nodiscard]] Instant ask_again_at() const override { return good_->ask_again_at(); }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override {
    return good_->offer(view, want, gpus_per_worker, each);
  }
  [[nodiscard]] std::vector<CoTenant> co_tenants(const View& view, const JobSpec& gang,
                                                 std::size_t most) override {
    return good_->co_tenants(view, gang, most);
  }
  [[nodiscard]] std::vector<std::size_t> choose_tenants(
      const View& view, const JobView& gang, std::uint32_t free,
      std::span<const CoTenant> offered) override {
    return good_->choose_tenants(view, gang, free, offered);
  }
  [[nodiscard]] std::span<const float> summary() const override { return good_->summary(); }
  [[nodiscard]] std::span<const TypePrice> prices() const override { return good_->prices(); }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    return good_->explain(job);
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    return good_->explain_now(view, job);
  }
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
  [[nodiscard]] std::uint32_t any_size(const JobSpec& job);
  [[nodiscard]] Placement some_here(const View& view, const JobView& job, std::uint32_t most);
  void size_spreads(const View& view, std::vector<Decision>& decisions);
  void resize_one(const View& view, std::vector<Decision>& out);

  std::unique_ptr<Policy> good_;
  PolicyFacts facts_;
  Duration mean_;
  Rng rng_;
  std::function<bool()> active_;
  std::function<void()> sized_;
  Instant next_ = Instant::min();
};

}  // namespace starling
