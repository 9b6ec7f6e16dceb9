// SPDX-License-Identifier: Apache-2.0
// A policy whose decide() is a function in C.
#include <stdexcept>

#include "launch/embed/objects.h"
#include "scheduling/packing.h"
#include "topology/shape.h"

using namespace starling;

// A call of decide(): waiting jobs have the numbers from 0 on, and those that run follow.
struct starling_view {
  const View& seen;
  Trial& trial;
};
struct starling_decisions {
  const View& seen;
  std::vector<Decision> made = {};
};

namespace {

const JobView* job_of(const View& view, std::size_t job) {
  if (job < view.waiting.size()) return &view.waiting[job];
  job -= view.waiting.size();
  return job < view.running.size() ? &view.running[job] : nullptr;
}

int fill(const View& view, std::size_t number, starling_job* job) {
  const JobView* const seen = job_of(view, number);
  if (seen == nullptr || job == nullptr) return wrong_call("there is no such job");
  const JobSpec& spec = *seen->spec;
  *job = {static_cast<std::uint32_t>(number),
          spec.gpus(),
          spec.workers,
          spec.gpus_per_worker,
          spec.priority,
          seen->forwards,
          seen->blocked ? 1 : 0,
          spec.name.c_str(),
          spec.model.c_str(),
          seconds(seen->submitted.time_since_epoch()),
          seconds(spec.duration),
          seconds(seen->served)};
  return 0;
}

Placement placement_of(const std::uint32_t* gpus, std::size_t count) {
  std::vector<std::uint32_t> sorted(gpus, gpus + count);
  std::sort(sorted.begin(), sorted.end());
  Placement out;
  for (const std::uint32_t gpu : sorted) out.emplace_back(gpu);
  return out;
}

/// Notes what `make` makes of a job.
template <class Make>
int decided(starling_decisions* decisions, std::uint32_t job, Make make) {
  return guarded_call<>(-1, [&] {
    const JobView* const seen = decisions == nullptr ? nullptr : job_of(decisions->seen, job);
    if (seen == nullptr) return wrong_call("there is no job " + std::to_string(job));
    decisions->made.push_back(make(seen->spec->id));
    return 0;
  });
}

class OwnPolicyInC final : public Policy {
 public:
  OwnPolicyInC(const starling_policy& own, const PolicyFacts& facts) : own_(own), facts_(facts) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    Trial trial(mirror_, view.gpus);
    const starling_view seen{view, trial};
    starling_decisions decisions{view};
    const int said = own_.decide(own_.context, &seen, &decisions);
    if (said != 0)
      throw std::runtime_error("decide() of agent " + std::to_string(view.me.value) + " at " +
                               std::to_string(seconds(view.now.time_since_epoch())) +
                               " s of the run returned " + std::to_string(said));
    return std::move(decisions.made);
  }

 private:
  starling_policy own_;
  PolicyFacts facts_;
  Mirror mirror_;
};

}  // namespace

PolicyRegistry starling::with_own_policy(PolicyRegistry policies, const starling_policy& own) {
  PolicyFacts facts{.name = kOwnPolicy, .summary = "a function of the program"};
  facts.preemptive = own.preemptive != 0;
  facts.elastic = own.elastic != 0;
  facts.needs_running = own.needs_running != 0;
  if (facts.elastic) facts.family = Family::elastic;
  facts.lengths = LengthSource::estimates;
  if (own.round_s > 0) facts.round = from_seconds(own.round_s);
  policies.add(facts, [own, facts](OptionReader&) -> Result<std::unique_ptr<Policy>> {
    return std::unique_ptr<Policy>(std::make_unique<OwnPolicyInC>(own, facts));
  });
  return policies;
}

double starling_view_now(const starling_view* view) {
  return seconds(view->seen.now.time_since_epoch());
}
uint32_t starling_view_agent(const starling_view* view) { return view->seen.me.value; }
size_t starling_view_waiting(const starling_view* view) { return view->seen.waiting.size(); }
int starling_view_waiting_job(const starling_view* view, size_t index, starling_job* job) {
  if (index >= view->seen.waiting.size()) return wrong_call("there is no such job");
  return fill(view->seen, index, job);
}
size_t starling_view_running(const starling_view* view) { return view->seen.running.size(); }
int starling_view_running_job(const starling_view* view, size_t index, starling_job* job) {
  if (index >= view->seen.running.size()) return wrong_call("there is no such job");
  return fill(view->seen, view->seen.waiting.size() + index, job);
}

size_t starling_view_placement(const starling_view* view, uint32_t job, uint32_t* gpus,
                               size_t room) {
  const JobView* const seen = job_of(view->seen, job);
  if (seen == nullptr) return 0;
  for (std::size_t i = 0; i < seen->placement.size() && i < room; ++i)
    gpus[i] = seen->placement[i].value;
  return seen->placement.size();
}

size_t starling_view_free(const starling_view* view, uint32_t* gpus, size_t room) {
  const Occupancy& all = view->trial.gpus();
  std::size_t found = 0;
  for (std::uint32_t gpu = all.gpus().first; gpu < all.gpus().last; ++gpu) {
    if (!all.is_free(GpuId{gpu})) continue;
    if (found < room) gpus[found] = gpu;
    ++found;
  }
  return found;
}

size_t starling_view_others(const starling_view* view) { return view->seen.others.size(); }
int starling_view_other(const starling_view* view, size_t index, starling_other* other) {
  if (index >= view->seen.others.size() || other == nullptr)
    return wrong_call("there is no such agent");
  const RemoteDigest& said = view->seen.others[index];
  *other = {said.agent.value, said.gpus, said.free, said.waiting};
  return 0;
}

size_t starling_view_place(const starling_view* view, uint32_t job, uint32_t* gpus) {
  return guarded_call<>(std::size_t{0}, [&]() -> std::size_t {
    const JobView* const seen = job_of(view->seen, job);
    if (seen == nullptr || gpus == nullptr) return 0;
    Trial& trial = view->trial;
    const auto found =
        place(trial.gpus(), shape_for(trial.gpus(), *seen->spec), *seen->spec, Fit::server);
    if (!found) return 0;
    trial.take(*found, demand_of(*seen->spec));
    for (std::size_t i = 0; i < found->size(); ++i) gpus[i] = (*found)[i].value;
    return found->size();
  });
}

int starling_start(starling_decisions* decisions, uint32_t job, const uint32_t* gpus,
                   size_t count) {
  return decided(decisions, job, [&](JobId id) {
    return Decision(Start{id, placement_of(gpus, count)});
  });
}
int starling_resize(starling_decisions* decisions, uint32_t job, const uint32_t* gpus,
                    size_t count) {
  return decided(decisions, job, [&](JobId id) {
    return Decision(Resize{id, placement_of(gpus, count)});
  });
}
int starling_preempt(starling_decisions* decisions, uint32_t job) {
  return decided(decisions, job, [](JobId id) { return Decision(Preempt{id}); });
}
int starling_forward(starling_decisions* decisions, uint32_t job, uint32_t agent) {
  return decided(decisions, job, [&](JobId id) { return Decision(Forward{id, AgentId{agent}}); });
}
