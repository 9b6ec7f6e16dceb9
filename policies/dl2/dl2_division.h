// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policies/dl2/dl2_learner.h"
#include "policies/dl2/dl2_net.h"
#include "policies/dl2/dl2_slot.h"
#include "policies/elastic/division.h"

namespace starling {

/// One increment of an incumbent: what its imitator should do where it sees that.
struct Dl2Example {
  std::vector<float> state;
  std::vector<std::uint8_t> mask;
  std::size_t action = 0;
};

/// DL2 (arXiv 1909.06040): in each slot a net says, action by action, which job gets a worker,
/// parameter server, or both, until it says that none does or nothing is left. Placing is Optimus'
/// rule. What it decides by is one of three: a learner, which explores; else a net; else its
/// incumbent, whose workers it takes, with the servers that the incumbent would have them with.
///
/// Between rounds, when jobs start on what is free, they are shared out the same way among
/// themselves, and nothing is learned of it. What a net cannot answer the incumbent divides. A job
/// that goes with no GPU type of the partition has no part in it.
class Dl2Division final : public Division {
 public:
  struct Parts {
    double slot_s = 1200;
    Dl2Shape shape;                       ///< of the net, or of the examples
    std::size_t window = 0;               ///< jobs that are seen, the first ones; 0: all
    std::unique_ptr<Division> incumbent;  ///< never null
    double temperature = 0;               ///< of Dl2Net::choose()
    std::optional<Dl2Net> net;            ///< of that shape
    std::shared_ptr<Dl2Learner> learner;  ///< of that shape; may be shared
    std::uint64_t run = 0;                ///< of a learner: Dl2Trail::run
    /// Told of every increment of the incumbent at rounds, where the incumbent decides.
    std::function<void(Dl2Example)> show;
  };
  explicit Dl2Division(Parts parts) : parts_(std::move(parts)) { trail_.run = parts_.run; }

  void begin_round(const ElasticCall& call) override;
  void divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
              std::vector<ElasticShare>& shares) override;
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall& call,
                                                      const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    return place_on_fastest(call, gpus, job, workers);
  }
  void fell_short(JobId job, std::uint32_t workers) override;
  [[nodiscard]] Allocation allocation(const ElasticCall& call, const JobSpec& job,
                                      const Placement& placement) const override;
  [[nodiscard]] bool reallocates() const override { return true; }
  [[nodiscard]] bool worth_a_restart(const ElasticCall&, const ElasticShare&) override {
    return true;  // the difference between two slots is what is carried out
  }
  void observe(const View& view) override;
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  void save(MemoryWriter& out) const override;
  void restore(MemoryReader& in) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return parts_.learner ? parts_.learner->updates() : 0;
  }
  void learn() override;

 private:
  struct Note {  // of the last division
    enum class Kind : std::uint8_t { shared, beyond_window, of_no_type_here };
    TaskCounts tasks;
    std::uint32_t asked_for = 0;  // inferences that were about it
    double least_sure = 1;        // the probability of the least likely of these
    const char* by = "";
    Kind kind = Kind::shared;
    std::optional<std::uint32_t> placed;  // workers that have a place, where fewer than `tasks`
  };
  struct Account {  // of work, when the slot began
    double left_s = 0, whole_s = 0;
  };
  [[nodiscard]] std::optional<Dl2Choice> infer(const Dl2Slot& slot, bool learns);
  void divide_here(const ElasticCall& call, const ElasticCapacity& all, const ElasticCapacity& left,
                   std::vector<ElasticShare>& shares);
  bool share_out(Dl2Slot& slot, bool learns);
  [[nodiscard]] std::uint32_t servers_with(const JobSpec& job, std::uint32_t workers) const;
  void follow_incumbent(const ElasticCall& call, const ElasticCapacity& all,
                        const ElasticCapacity& left, std::vector<ElasticShare>& shares, bool round);
  void show_increments(Dl2Slot slot, const std::map<JobId, TaskCounts>& wanted) const;
  [[nodiscard]] std::map<JobId, TaskCounts> counts_of(
      const ElasticCall& call, const std::vector<ElasticShare>& shares) const;
  [[nodiscard]] Dl2Progress progress_of(const std::vector<ElasticShare>& shares);

  Parts parts_;
  std::map<JobId, Note> notes_;
  Dl2Trail trail_;
  Rng chance_{0};                      // of the division under way
  bool round_ = false;                 // the next division is a round's
  std::map<JobId, Account> accounts_;  // of the slot under way
  std::set<JobId> finished_;           // in it
};

}  // namespace starling
