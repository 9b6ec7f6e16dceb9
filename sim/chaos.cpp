#include "sim/chaos.h"

#include <algorithm>
#include <utility>

#include "agents/state.h"
#include "sim/chaos_faults.h"
#include "topology/generate.h"
#include "workload/trace.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

enum Salt : std::uint64_t { kInputSalt = 1, kFaultSalt = 2 };
constexpr std::size_t kFailuresKept = 10;
/// A seed of ten minutes takes some hundred thousand; far more is a storm that does not end.
constexpr std::uint64_t kMostEvents = 3'000'000;
/// For all that is left when the last job has ended: holds that nobody asks for, orphans, lists.
constexpr Duration kSettled = 15min;

struct Input {
  Topology topology;
  Trace trace;
  SimOptions sim;
  std::uint32_t executors_each = 1;
  bool herd = false;    ///< all jobs are submitted at one instant
  Duration in_turn{0};  ///< what the jobs take one after the other
};

std::string draw_policy(const PolicyRegistry& policies, Rng& rng) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : policies.entries()) {
    // Nobody hands this run a model file.
    if (!entry.facts.needs_model_file) names.push_back(name);
  }
  return names[rng.below(static_cast<std::uint32_t>(names.size()))];
}

Trace draw_jobs(std::uint32_t gpus, Duration faults_last, bool herd, Rng& rng) {
  static constexpr const char* kModels[] = {"", "resnet50", "vgg16"};
  Trace trace;
  trace.name = "chaos";
  const std::uint32_t jobs = 30 + rng.below(121);
  const double span_s = herd ? 0 : 0.8 * seconds(faults_last);
  std::vector<Duration> submits;
  for (std::uint32_t i = 0; i < jobs; ++i) submits.push_back(from_seconds(span_s * rng.uniform()));
  std::sort(submits.begin(), submits.end());
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    job.submit = submits[i];
    job.spec.id = trace_job_id(i);
    job.spec.name = "j" + std::to_string(i);
    job.spec.model = kModels[rng.below(3)];
    // Most gangs are small; one in ten may need everything there is.
    job.spec.workers = rng.chance(0.1) ? 1 + rng.below(gpus) : std::min(gpus, 1U << rng.below(5));
    if (rng.chance(0.2)) {
      job.spec.min_workers = 1;
      job.spec.max_workers = std::min(gpus, 2 * job.spec.workers);
    }
    job.spec.duration = from_seconds(1 + 200 * rng.uniform() * rng.uniform());
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

Result<Input> draw_input(std::uint64_t seed, const PolicyRegistry& policies,
                         const ChaosOptions& options, Rng rng) {
  SimOptions sim;
  sim.seed = seed;
  sim.check = true;
  sim.network = NetworkModel::lan();
  sim.agents = 2 + rng.below(4);
  const std::uint32_t executors_each = 1 + rng.below(3);
  sim.servers_per_executor = 1 + rng.below(2);
  const std::string drawn = draw_policy(policies, rng);
  sim.policy = options.policy.empty() ? drawn : options.policy;
  sim.physics = rng.chance(0.25) ? PhysicsKind::full : PhysicsKind::trace;
  sim.durations.kind = static_cast<DurationKnowledge::Kind>(rng.below(3));
  sim.durations.sigma = 1;

  const std::uint32_t rack = executors_each * sim.servers_per_executor;
  auto topology = generate_leaf_spine({.servers = sim.agents * rack,
                                       .gpus_per_server = 1U << (1 + rng.below(3)),
                                       .servers_per_rack = rack});
  if (!topology) return topology.error();
  const bool herd = rng.chance(0.2);
  Trace trace = draw_jobs(topology.value().gpu_count(), options.faults_last, herd, rng);
  Duration in_turn{0};
  for (const TraceJob& job : trace.jobs) in_turn += job.spec.duration;
  return Input{std::move(topology).value(), std::move(trace), sim, executors_each, herd, in_turn};
}

/// What should not be there when every job is over and every node is well; empty: nothing.
std::string left_over(World& world, std::uint32_t agents) {
  const std::size_t processes = world.hardware().processes().size();
  if (processes > 0) return std::to_string(processes) + " processes still run";
  for (std::uint32_t a = 0; a < agents; ++a) {
    const std::string who = "agent " + std::to_string(a);
    const Agent* agent = world.agent(AgentId{a});
    if (agent == nullptr) return who + " is down";
    const AgentState& state = agent->state();
    if (state.reconciling()) return who + " is still reconciling";
    if (!state.jobs.empty()) {
      return who + " still has " + std::to_string(state.jobs.size()) + " jobs, the first " +
             name_of(state.jobs.begin()->second.stage);
    }
    if (!state.ledger.holds().empty())
      return who + " still holds " + std::to_string(state.ledger.holds().size()) + " shares";
    if (state.ledger.quarantined_count() > 0)
      return who + " has " + std::to_string(state.ledger.quarantined_count()) + " GPUs quarantined";
  }
  return {};
}

/// The jobs that have not ended, and what the agents know of them.
std::string unfinished(World& world, std::uint32_t agents) {
  const Client::Counts& counts = world.client().counts();
  std::string text = std::to_string(counts.jobs - counts.over()) + " of " +
                     std::to_string(counts.jobs) + " jobs are not over";
  for (std::uint32_t a = 0; a < agents; ++a) {
    const Agent* agent = world.agent(AgentId{a});
    if (agent == nullptr) continue;
    const AgentState& state = agent->state();
    text += "; agent " + std::to_string(a) + " of " + std::to_string(state.partition.gpus.size()) +
            " GPUs, " + std::to_string(state.ledger.free_count()) + " free, " +
            std::to_string(state.ledger.quarantined_count()) + " quarantined";
    for (const auto& [id, job] : state.jobs) {
      text += ", " + to_string(id) + " " + name_of(job.stage) + " for " +
              std::to_string(job.spec->gpus()) + " GPUs (" + job.trouble + ")";
    }
  }
  return text;
}

/// One seed as it runs. Each part gives the first thing that is wrong.
class Runner {
 public:
  using Wrong = std::optional<ChaosFailure>;
  Runner(std::uint64_t seed, Input& input, World& world, ChaosFaults& faults)
      : seed_(seed), input_(input), world_(world), faults_(faults) {}

  Wrong run() {
    while (!faults_.healed()) {
      if (Wrong wrong = step(kNever)) return wrong;
    }
    const Instant healed = world_.now();
    // Full physics and rounds of preemption make jobs longer than one after the other.
    const Instant budget = healed + 1h + 4 * input_.in_turn;
    while (!world_.client().all_over()) {
      if (Wrong wrong = step(budget)) return wrong;
      if (out_of_events_) return fail("L1", unfinished(world_, input_.sim.agents));
    }
    const Instant settled = world_.now() + kSettled;
    for (Instant look = world_.now(); !left_over(world_, input_.sim.agents).empty(); look += 1s) {
      if (look > settled) return fail("L3", left_over(world_, input_.sim.agents));
      for (out_of_events_ = false; !out_of_events_;) {
        if (Wrong wrong = step(look)) return wrong;
      }
    }
    return untrue();
  }

 private:
  Wrong step(Instant until) {
    faults_.between_events(world_);
    const Result<bool> more = world_.step_until(until);
    if (!more) {
      const std::string& text = more.error().message;
      const auto space = text.find(' ');
      const bool is_rule = text.find(" is violated at ") == space && space != std::string::npos;
      return fail(is_rule ? text.substr(0, space) : "stopped", text);
    }
    out_of_events_ = !more.value();
    if (++events_ > kMostEvents) {
      return fail("L7", "more than " + std::to_string(kMostEvents) + " events; " +
                            unfinished(world_, input_.sim.agents));
    }
    return std::nullopt;
  }
  /// What the client was told against what the hardware did.
  Wrong untrue() {
    for (const JobTruth& job : world_.hardware().jobs()) {
      const JobOutcome* told = world_.client().find(job.id);
      if (told->state.phase == JobPhase::finished && job.completed == kNever)
        return fail("L5", "a job is said to have finished that never did its work");
    }
    return std::nullopt;
  }
  Wrong fail(const std::string& rule, const std::string& message) const {
    return ChaosFailure{
        seed_, rule, seconds(world_.now().time_since_epoch()),
        input_.sim.policy + ", " + std::to_string(input_.sim.agents) + " agents: " + message};
  }

  std::uint64_t seed_;
  Input& input_;
  World& world_;
  ChaosFaults& faults_;
  bool out_of_events_ = false;
  std::uint64_t events_ = 0;
};

}  // namespace

void ChaosReport::add(const ChaosRun& run) {
  ++seeds;
  jobs += run.jobs;
  finished += run.finished;
  events += run.events;
  simulated_hours += run.simulated_s / 3600;
  ++policies[run.policy];
  for (const auto& [kind, count] : run.faults) faults[kind] += count;
  if (!run.failure) return;
  ++failures;
  if (first.size() < kFailuresKept) first.push_back(*run.failure);
}

Result<ChaosRun> run_chaos_seed(std::uint64_t seed, const PolicyRegistry& policies,
                                const ChaosOptions& options) {
  const Rng rng(seed);
  auto drawn = draw_input(seed, policies, options, rng.fork(kInputSalt));
  if (!drawn) return drawn.error();
  Input& input = drawn.value();
  ChaosFaults faults(input.sim.agents, input.executors_each, options.faults_last,
                     rng.fork(kFaultSalt));
  auto made = World::make(input.topology, input.trace, policies, input.sim);
  if (!made) return made.error();
  World& world = *made.value();
  STARLING_CHECK(world.executors() == input.sim.agents * input.executors_each);
  faults.plan(world);
  if (options.plant) world.at(Instant(options.faults_last / 2), options.plant);

  ChaosRun run;
  run.failure = Runner(seed, input, world, faults).run();
  const RunResult result = world.result();
  run.policy = input.sim.policy;
  run.agents = input.sim.agents;
  run.executors = world.executors();
  run.gpus = input.topology.gpu_count();
  run.jobs = static_cast<std::uint32_t>(input.trace.jobs.size());
  run.finished = static_cast<std::uint32_t>(world.client().counts().finished);
  run.simulated_s = seconds(world.now().time_since_epoch());
  run.events = result.events;
  run.trace_hash = result.trace_hash;
  run.faults = faults.counts(world);
  if (input.herd) run.faults["herd of submissions"] = 1;
  return run;
}

Result<ChaosReport> run_chaos(const PolicyRegistry& policies, const ChaosOptions& options) {
  ChaosReport report;
  for (std::uint64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    if (options.begins) options.begins(seed);
    auto run = run_chaos_seed(seed, policies, options);
    if (!run) return run.error();
    report.add(run.value());
  }
  return report;
}

}  // namespace starling
