// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "scheduling/policy.h"
#include "sim/run/run_recorder.h"

namespace starling {

/// A policy that decides as the one in it does and tells a recorder why: Policy::explain() of each
/// job that a decision names, and of each that waits, the first time, with Policy::explain_now().
class ToldPolicy final : public Policy {
 public:
  /// The recorder outlives it.
  ToldPolicy(std::unique_ptr<Policy> inner, RunRecorder& recorder)
      : inner_(std::move(inner)), recorder_(recorder) {}

  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return inner_->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  void refused(const Feedback& feedback) override { inner_->refused(feedback); }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override {
    return inner_->offer(view, want, gpus_per_worker, each);
  }
  [[nodiscard]] std::vector<CoTenant> co_tenants(const View& view, const JobSpec& gang,
                                                 std::size_t most) override {
    return inner_->co_tenants(view, gang, most);
  }
  [[nodiscard]] std::vector<std::size_t> choose_tenants(
      const View& view, const JobView& gang, std::uint32_t free,
      std::span<const CoTenant> offered) override {
    return inner_->choose_tenants(view, gang, free, offered);
  }
  [[nodiscard]] std::span<const float> summary() const override { return inner_->summary(); }
  [[nodiscard]] std::span<const TypePrice> prices() const override { return inner_->prices(); }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    return inner_->explain(job);
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    return inner_->explain_now(view, job);
  }
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override {
    return inner_->save(origin);
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override {
    return inner_->restore(memory, origin);
  }
  [[nodiscard]] std::uint32_t memory_version() const noexcept override {
    return inner_->memory_version();
  }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return inner_->learned(); }
  void learn() override { inner_->learn(); }

 private:
  std::unique_ptr<Policy> inner_;
  RunRecorder& recorder_;
  std::set<JobId> waited_;
};

}  // namespace starling
