// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/step/state.h"
#include "interference/models.h"
#include "scheduling/feedback.h"
#include "scheduling/policy.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {

/// For tests: agent 0 of `partitions`, each one server of four GPUs (its own are 0-3), alone with
/// its messages. Its policy decides what the test says, right or wrong.
class ScriptedHome {
 public:
  /// What one call of decide() was shown.
  struct Seen {
    std::vector<JobId> waiting, running, blocked;
    std::vector<Allocation> allocations;  ///< of those that run
    std::vector<JobView> waiting_views, running_views;
    std::vector<DepartedJob> departed;
    TriggerKind why = TriggerKind::round;
  };

  /// `recovered`: what an earlier life has written.
  explicit ScriptedHome(std::uint32_t partitions = 1, AgentConfig config = {},
                        std::span<const Record> recovered = {})
      : topology(generate_flat({.servers = partitions, .gpus_per_server = 4}).value()) {
    const std::vector<Partition> parts = partition(topology, partitions).value();
    for (const Partition& part : parts) config.flock.push_back({AgentId{part.id.value}, part});
    config.executors = {{executor_node(0), {0, 1}}};
    auto policy = std::make_unique<Script>();
    script = policy.get();
    agent = std::make_unique<Agent>(std::move(config), topology, *speed, std::move(policy), Rng(1),
                                    recovered);
    tick();
    hear(executor_node(0), Inventory{state().fence(), {}});
  }

  void tick(Duration later = Duration{0}) { step(later, Tick{}); }
  void hear(NodeId from, Message message, std::uint16_t protocol = kNewestProtocol) {
    step(Duration{0}, Received{from, std::move(message), protocol});
  }
  void hear(AgentId from, Message message) { hear(agent_node(from), std::move(message)); }
  /// From an agent of that protocol.
  void hear(AgentId from, Message message, std::uint16_t protocol) {
    step(Duration{0}, Received{agent_node(from), std::move(message), protocol});
  }
  JobId submit(std::uint64_t n, JobSpec spec) {
    spec.id = JobId{0, n};
    hear(client_node(0), Submit{spec, client_node(0)});
    return spec.id;
  }
  JobId submit(std::uint64_t n, std::uint32_t gpus) {
    JobSpec spec;
    spec.workers = gpus;
    return submit(n, spec);
  }
  /// The policy decides that alone, in a turn now. False: it was no good.
  bool decide(Decision decision) {
    const std::uint64_t wrong = state().counters.wrong_decisions;
    const std::uint64_t all = state().counters.decisions;
    script->next.push_back(std::move(decision));
    ask_policy();
    return state().counters.decisions == all + 1 && state().counters.wrong_decisions == wrong;
  }
  /// The policy is asked, and what it was shown is in `script->seen`.
  void ask_policy() {
    hear(executor_node(0), GpuHealth{++health, {}});
    tick();
  }
  /// The executor has started what was launched last.
  void launched() { hear(executor_node(0), LaunchResult{last<Launch>()->attempt, true, {}}); }

  /// The newest message of its kind; null: there is none.
  template <class M>
  [[nodiscard]] const M* last(std::optional<NodeId> to = {}) const {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at) {
      const auto* message = std::get_if<M>(&at->message);
      if (message != nullptr && (!to || at->to == *to)) return message;
    }
    return nullptr;
  }
  template <class M>
  [[nodiscard]] int count(AgentId to) const {
    int found = 0;
    for (const Send& send : sent)
      found += send.to == agent_node(to) && std::holds_alternative<M>(send.message) ? 1 : 0;
    return found;
  }
  [[nodiscard]] const AgentState& state() const { return agent->state(); }
  [[nodiscard]] const Job& job(std::uint64_t n) const { return state().home.jobs.at(JobId{0, n}); }

  struct Script : Policy {
    const PolicyFacts& facts() const noexcept override { return facts_; }
    std::vector<Decision> decide(const View& view, const Trigger& trigger, Rng&) override {
      seen = Seen{};
      seen.why = trigger.kind;
      seen.waiting_views.assign(view.waiting.begin(), view.waiting.end());
      seen.running_views.assign(view.running.begin(), view.running.end());
      seen.departed.assign(view.departed.begin(), view.departed.end());
      for (const JobView& job : view.waiting) seen.waiting.push_back(job.spec->id);
      for (const JobView& job : view.running) {
        seen.running.push_back(job.spec->id);
        seen.allocations.push_back(job.allocation);
        if (job.blocked) seen.blocked.push_back(job.spec->id);
      }
      return std::exchange(next, {});
    }
    void refused(const Feedback& feedback) override {
      refusals.emplace_back(feedback.job(), feedback.why);
    }
    [[nodiscard]] Instant ask_again_at() const override { return again; }
    Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                    Demand each) override {
      return offers.empty() ? Policy::offer(view, want, gpus_per_worker, each) : offers;
    }
    std::vector<CoTenant> co_tenants(const View&, const JobSpec& gang, std::size_t) override {
      asked_for = gang;
      return tenants;
    }
    std::vector<std::size_t> choose_tenants(const View&, const JobView& gang, std::uint32_t free,
                                            std::span<const CoTenant> offered) override {
      chooses_for = gang.spec->id;
      had_free = free;
      was_offered.assign(offered.begin(), offered.end());
      return chosen;
    }
    [[nodiscard]] std::span<const TypePrice> prices() const override { return costs; }
    std::vector<Decision> next;
    std::vector<TypePrice> costs;
    Instant again = kNever;
    Placement offers;
    std::vector<CoTenant> tenants, was_offered;
    std::vector<std::size_t> chosen;
    JobSpec asked_for;
    JobId chooses_for;
    std::uint32_t had_free = 0;
    Seen seen;
    std::vector<std::pair<JobId, DecisionFault>> refusals;  ///< since the test last cleared them

   private:
    PolicyFacts facts_{.name = "script", .summary = "does as it is told", .elastic = true};
  };

  Topology topology;
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  Script* script = nullptr;
  std::unique_ptr<Agent> agent;
  Instant now;
  std::uint64_t health = 0;
  std::vector<Send> sent;
  std::vector<Record> journal;  ///< of this life
  std::vector<SpeedSample> taught;

 private:
  void step(Duration after, const Event& event) {
    now = later(now, after);
    Output out;
    agent->step(now, event, out);
    sent.insert(sent.end(), out.send.begin(), out.send.end());
    journal.insert(journal.end(), out.persist.begin(), out.persist.end());
    taught.insert(taught.end(), out.teach.begin(), out.teach.end());
  }
};

}  // namespace starling
