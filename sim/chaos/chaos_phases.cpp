// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_phases.h"

#include <algorithm>
#include <set>

#include "agents/step/state.h"
#include "sim/chaos/settled.h"
#include "workload/requirements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// A seed of ten minutes takes some hundred thousand; far more is a storm that does not end. Where
/// it lasts for hours, so many an hour.
constexpr std::uint64_t kMostEvents = 5'000'000;
/// For all that is left when the last job has ended: holds that no home asks for, orphans, lists.
constexpr Duration kSettled = 15min;
/// For clients to have all that they still want taken by some home, once there are no faults.
constexpr Duration kTaken = 15min;
/// The longest that digests may be old, and some more.
constexpr Duration kDigestsAgree = 25s;
constexpr Duration kNews = 5s;
constexpr Duration kGiveUpEvery = 5s;
constexpr Duration kListen = 20s;
constexpr int kMostExtended = 3;  // of the time for jobs to end
/// What a takeover needs besides the lease, in heartbeats: to the first accept, and until all GPUs
/// are known.
constexpr int kAcceptBeats = 4, kKnownBeats = 10;
/// Of the roll call, within which an old copy is told so: four, on a clock that may be slow.
constexpr int kCallBeats = 6;

/// All servers but those that are gone have the GPUs for the job, and CPUs and memory beside them.
bool hold(const Topology& topology, const std::set<ServerId>& gone, const JobSpec& spec) {
  std::uint64_t workers = 0;
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    if (gone.contains(ServerId{s})) continue;
    const Server& server = topology.server(ServerId{s});
    const std::uint32_t room = Occupancy::room_of(server, demand_of(spec));
    workers += std::min(server.gpus.size(), room) / std::max(spec.gpus_per_worker, 1U);
  }
  return workers >= spec.workers;
}

}  // namespace

Duration ChaosPhases::times(Duration usual) const {
  return from_seconds(seconds(usual) * faults_.knobs().slowest);
}

ChaosPhases::Wrong ChaosPhases::run() {
  for (const auto phase : {&ChaosPhases::with_faults, &ChaosPhases::to_the_end,
                           &ChaosPhases::settle, &ChaosPhases::be_quiet, &ChaosPhases::probe,
                           &ChaosPhases::settle, &ChaosPhases::untrue, &ChaosPhases::lose_state}) {
    if (Wrong wrong = (this->*phase)()) return wrong;
  }
  return std::nullopt;
}

ChaosPhases::Wrong ChaosPhases::with_faults() {
  while (!faults_.healed()) {
    if (Wrong wrong = step(kNever)) return wrong;
  }
  std::uint64_t most = 0;
  for (std::uint32_t a = 0; a < world_.agents(); ++a) {
    const Agent* agent = world_.agent(AgentId{a});
    if (agent == nullptr) continue;
    for (const auto& [id, job] : agent->state().home.jobs) {
      if (phase_of(job.stage()) != JobPhase::waiting || job.spec->gpus() <= most) continue;
      if (job.held || job.spec->terms.any()) continue;  // it does not wait for GPUs alone
      most = job.spec->gpus();
      largest_waiting_ = id;
      some_waited_ = true;
    }
  }
  // What needs more than there is left waits for ever, and its user gives it up.
  if (faults_.servers_gone().empty() && !faults_.servers_changed()) return std::nullopt;
  for (const TraceJob& row : input_.trace.jobs) {
    if (hold(world_.topology(), faults_.servers_gone(), row.spec)) continue;
    give_up(row.spec.id);
  }
  return std::nullopt;
}

/// By its client, and by another user in case that has died.
void ChaosPhases::give_up(const JobId& job) {
  (void)world_.cancel(job);
  hopeless_.push_back(job);
}

/// What waits for a job that was refused, or whose client died before any home had it, waits for
/// ever, and its user gives it up.
void ChaosPhases::give_up_what_waits_in_vain() {
  for (const TraceJob& row : input_.trace.jobs) {
    const auto never = [&](const After& after) { return !world_.accepted(after.job); };
    if (!std::ranges::any_of(row.spec.terms.after, never)) continue;
    give_up(row.spec.id);
  }
}

/// What users still hold when there are no faults any more, they let go; at a home that has gone
/// back to a version that knows no release, they cancel it.
void ChaosPhases::release_held() {
  for (std::uint32_t a = 0; a < world_.agents(); ++a) {
    const Agent* agent = world_.agent(AgentId{a});
    if (agent == nullptr) continue;
    for (const auto& [id, job] : agent->state().home.jobs) {
      if (!job.held) continue;
      world_.ask(AgentId{a}, StatusQuery{});  // the answer says whether the next word is known
      if (agent->state().config.protocol < kTermsProtocol) {
        world_.ask(AgentId{a}, Cancel{id});
      } else {
        world_.ask(AgentId{a}, ChangeJob{id, JobChange::release});
      }
    }
  }
}

void ChaosPhases::users_go_on() {
  if (world_.now() >= everything_taken_) {
    everything_taken_ = kNever;
    give_up_what_waits_in_vain();
  }
  if (world_.now() < next_give_up_) return;
  next_give_up_ = world_.now() + kGiveUpEvery;
  release_held();
  for (const JobId job : hopeless_) {
    if (world_.end_of(job) || !world_.accepted(job)) continue;
    for (std::uint32_t a = 0; a < world_.agents(); ++a) world_.ask(AgentId{a}, Cancel{job});
  }
}

ChaosPhases::Wrong ChaosPhases::to_the_end() {
  // Full physics and rounds of preemption make jobs longer than one after the other. A gang over
  // slow links can be longer still, and others wait for it.
  Instant budget = world_.now() + times(1h) + 4 * input_.serial;
  int extended = 0;
  // A Submit of a client that is dead may still arrive.
  if (world_.users().deaths() > 0) {
    const auto never = [] { return false; };
    if (Wrong wrong = until(world_.now() + Network::kLatest, never)) return wrong;
  }
  everything_taken_ = world_.now() + times(kTaken);
  while (!world_.all_over()) {
    users_go_on();
    if (Wrong wrong = step(budget)) return wrong;
    if (!out_of_events_) continue;
    const Instant ends = world_.hardware().last_end();
    if (ends <= budget || extended++ == kMostExtended) return fail("L1", unfinished(world_));
    budget = later(ends, times(1h));
  }
  return std::nullopt;
}

ChaosPhases::Wrong ChaosPhases::settle() {
  everything_taken_ = world_.now();  // of clients that still live
  return until_nothing("L3", world_.now() + times(kSettled), [this] {
    users_go_on();
    return left_over(world_);
  });
}

ChaosPhases::Wrong ChaosPhases::be_quiet() {
  const auto never = [] { return false; };
  const Duration old_owners_end = 2 * input_.sim.timers.heartbeat;
  const auto one_owner_each = [&] {
    for (std::uint32_t a = 0; a < world_.agents(); ++a) {
      if (world_.any_deposed(AgentId{a})) return false;
    }
    return true;
  };
  if (Wrong wrong = until(world_.now() + old_owners_end, one_owner_each)) return wrong;
  if (Wrong wrong = until(world_.now() + times(kDigestsAgree), never)) return wrong;
  // A frame that was repeated long ago may still arrive and be news for a moment.
  if (Wrong wrong =
          until_nothing("L2", world_.now() + times(kNews), [this] { return disagreement(world_); }))
    return wrong;
  const std::uint64_t before = world_.messages();
  if (Wrong wrong = until(world_.now() + kListen, never)) return wrong;
  const std::uint64_t heard = world_.messages() - before;
  // A ping and its answer both ways on every link each heartbeat, and a digest now and then.
  const std::uint64_t links =
      std::uint64_t{world_.agents()} * (world_.agents() - 1) + 2ULL * world_.executors();
  const Timers& timers = input_.sim.timers;
  const Duration beat = std::min(timers.heartbeat, timers.digest);
  const auto beats = static_cast<std::uint64_t>(kListen / beat);
  const std::uint64_t most = 2 * links * (beats + 4);
  if (heard <= most) return std::nullopt;
  return fail("L7", std::to_string(heard) + " messages in " + std::to_string(seconds(kListen)) +
                        " s with nothing to do; " + std::to_string(most) + " are the most");
}

bool ChaosPhases::any_away(AgentId owner) const {
  const std::uint32_t first = owner.value * input_.executors_each;
  for (std::uint32_t e = first; e < first + input_.executors_each; ++e) {
    if (world_.executor(e) == nullptr && !world_.retired(e)) return true;
  }
  return false;
}

/// A clean takeover and a clean drain: no fault excuses their times.
ChaosPhases::Wrong ChaosPhases::probe() {
  // Where no machine is gone: an owner waits for those that are.
  const auto lacks = [&](std::uint32_t a) {
    for (std::uint32_t e = 0; e < input_.executors_each; ++e) {
      const std::uint32_t executor = a * input_.executors_each + e;
      if (world_.retired(executor) && world_.servers_of(executor).size() > 0) return true;
    }
    return false;
  };
  auto whole = static_cast<std::uint32_t>(seed_ % world_.agents());
  for (std::uint32_t i = 0; i < world_.agents() && lacks(whole); ++i)
    whole = (whole + 1) % world_.agents();
  if (lacks(whole)) return std::nullopt;
  const AgentId agent{whole};
  const Duration beat = input_.sim.timers.heartbeat, lease = faults_.knobs().lease;
  const Instant died = world_.now();
  world_.crash_agent(agent);
  if (Wrong wrong = until(died + lease, [] { return false; })) return wrong;
  if (!world_.take_over(agent, Duration{0}).ok()) return fail("G7", "no agent can take over");
  JobSpec spec;
  spec.id = trace_job_id(1'000'000);
  spec.name = "probe";
  world_.submit(spec, agent, 1h);
  const auto outcome = [&] { return world_.users().find(spec.id); };
  bool is = false;
  const auto wait = [&](Instant latest, auto what) {
    return until(latest, [&, what] { return is = what(); });
  };
  if (Wrong wrong = wait(died + times(1min), [&] { return outcome()->accepted; })) return wrong;
  const double accepted = seconds(lease + kAcceptBeats * beat);
  if (Wrong wrong = timed("takeover to the first accept", "G7", died, accepted, is)) return wrong;
  // An executor that hears of its new owner that its state is an old copy is away until its
  // operator has come.
  Instant complete = died;
  const auto known = [&] {
    if (any_away(agent)) complete = world_.now();
    return !world_.agent(agent)->state().owner.reconciling();
  };
  if (Wrong wrong = wait(died + times(1min), known)) return wrong;
  const double all_known = seconds(lease + kKnownBeats * beat);
  if (Wrong wrong = timed("takeover to all GPUs known", "G7", complete, all_known, is))
    return wrong;
  if (Wrong wrong = wait(world_.now() + times(2h), [&] { return outcome()->started != kNever; }))
    return wrong;
  if (!is) return fail("L1", "a job of one GPU does not start; " + unfinished(world_));
  const Instant cancelled = world_.now();
  world_.cancel(spec.id);
  if (Wrong wrong = wait(cancelled + times(5min), [&] { return outcome()->over(); })) return wrong;
  const Timers& timers = input_.sim.timers;
  return timed("cancel to drained", "G2", cancelled, seconds(times(30s) + timers.kill_grace), is);
}

/// An agent's state is an old copy, or gone: it is told so, and after accept-loss it goes on, with
/// nothing that ran before.
ChaosPhases::Wrong ChaosPhases::lose_state() {
  if (!faults_.loss()) return std::nullopt;
  const AgentId agent = faults_.loss()->agent;
  const World::Backup& left = faults_.loss()->left;
  // What was open then was on servers that are not there any more: no agent can go on from it.
  if (!world_.can_start(agent_node(agent), left).ok()) return std::nullopt;
  const Duration beat = input_.sim.timers.heartbeat;
  std::vector<std::uint32_t> ran;
  for (const JobTruth& job : world_.hardware().jobs()) ran.push_back(job.attempts);
  if (left.journal->position() < world_.disk(agent_node(agent)).position()) {
    if (!world_.start_old_copy(agent, left).ok()) return fail("L8", "an old copy does not start");
    const auto told = [&] { return world_.outlived(agent_node(agent)); };
    if (Wrong wrong = until(world_.now() + kCallBeats * beat, told)) return wrong;
    if (!told())
      return fail("L8", "no peer told agent " + std::to_string(agent.value) +
                            " that its state is an old copy");
    const auto up = [&] { return world_.agent(agent) != nullptr; };
    if (Wrong wrong = until(world_.now() + times(1min), up)) return wrong;
    if (Wrong wrong = settle()) return wrong;
  }
  world_.accept_loss(agent, left);
  if (!world_.restart_agent(agent).ok()) return fail("L8", "after accept-loss it does not start");
  if (agent == AgentId{0}) faults_.say_queues_anew(world_);
  if (Wrong wrong = settle()) return wrong;
  if (Wrong wrong = be_quiet()) return wrong;
  std::size_t row = 0;
  for (const std::uint32_t attempts : ran) {
    const JobTruth& job = world_.hardware().jobs()[row++];
    if (job.attempts != attempts)
      return fail("S19", "job " + to_string(job.id) + " ran again after accept-loss");
  }
  JobSpec spec;
  spec.id = trace_job_id(1'000'001);
  spec.name = "afterwards";
  spec.duration = 10s;
  world_.submit(spec, agent, spec.duration);
  const auto over = [&] { return world_.users().find(spec.id)->over(); };
  if (Wrong wrong = until(world_.now() + times(10min), over)) return wrong;
  if (!over()) return fail("L8", "a new job does not run after accept-loss; " + unfinished(world_));
  faults_.loss_was_accepted();
  return settle();
}

ChaosPhases::Wrong ChaosPhases::until_nothing(const char* rule, Instant latest,
                                              const std::function<std::string()>& what) {
  std::string said;
  Wrong wrong = until(latest, [&] { return (said = what()).empty(); });
  if (!wrong && !said.empty()) wrong = fail(rule, said + "; " + unfinished(world_));
  return wrong;
}

ChaosPhases::Wrong ChaosPhases::timed(const char* what, const char* rule, Instant since,
                                      double most_s, bool happened) {
  const double took = seconds(world_.now() - since);
  times_[what].push_back(took);
  if (happened && took <= most_s) return std::nullopt;
  return fail(rule, std::string(what) + (happened ? " took " : " did not happen within ") +
                        std::to_string(took) + " s; " + std::to_string(most_s) + " s are the most");
}

/// How it ended, as its home remembers; null: none does any more.
const JobState* ChaosPhases::remembered_end(const JobId& job) const {
  for (std::uint32_t a = 0; a < world_.agents(); ++a) {
    const Agent* agent = world_.agent(AgentId{a});
    if (agent == nullptr) continue;
    const auto& ended = agent->state().home.remembered.ended;
    if (const auto over = ended.find(job); over != ended.end()) return &over->second;
  }
  return nullptr;
}

/// What clients were told, and what became of jobs that no client followed to their end, against
/// what the hardware did.
ChaosPhases::Wrong ChaosPhases::untrue() {
  for (const JobTruth& job : world_.hardware().jobs()) {
    const JobPhase told = world_.users().find(job.id)->state.phase;
    const std::optional<JobPhase> end = world_.end_of(job.id);
    if ((told == JobPhase::finished || end == JobPhase::finished) && job.completed == kNever)
      return fail("L5", "a job is said to have finished that never did its work");
    if (world_.accepted(job.id) && !end)
      return fail("L1", "job " + to_string(job.id) + " was accepted and has not ended");
    if (!world_.accepted(job.id) && job.attempts > 0)
      return fail("L5", "job " + to_string(job.id) + " was never accepted, and ran");
  }
  if (const std::string what = faults_.misplaced(); !what.empty()) return fail("L9", what);
  if (faults_.counts(world_).contains("F23-candidates: both granted"))
    return fail("S8", "two candidates were granted one epoch");
  if (!some_waited_) return std::nullopt;
  const std::optional<JobPhase> end = world_.end_of(largest_waiting_);
  if (end == JobPhase::finished || end == JobPhase::cancelled) return std::nullopt;
  if (world_.users().cancelled(largest_waiting_)) return std::nullopt;
  const JobTruth& truth = world_.hardware().jobs()[world_.hardware().row_of(largest_waiting_)];
  const bool once = std::ranges::any_of(input_.trace.jobs, [&](const TraceJob& row) {
    return row.spec.id == largest_waiting_ && row.spec.no_requeue;
  });
  const JobState* over = remembered_end(largest_waiting_);
  // An attempt that was lost before all of it ran is one, too.
  const bool tried = truth.tried || (over != nullptr && over->attempts > 0);
  if (truth.failed || (once && tried)) return std::nullopt;
  return fail("L6", "the largest gang that waited was not placed: " + to_string(largest_waiting_) +
                        " ended as " + name_of(end.value_or(JobPhase::unknown)) +
                        (over == nullptr ? "" : ", " + over->exit.log_tail));
}

ChaosPhases::Wrong ChaosPhases::until(Instant latest, const std::function<bool()>& is) {
  for (Instant look = world_.now(); !is() && look < latest;) {
    look = std::min(latest, look + 100ms);
    for (out_of_events_ = false; !out_of_events_;) {
      if (Wrong wrong = step(look)) return wrong;
    }
  }
  return std::nullopt;
}

ChaosPhases::Wrong ChaosPhases::step(Instant until) {
  faults_.between_events(world_);
  const Result<bool> more = world_.step_until(until);
  if (!more) {
    const std::string& text = more.error().message;
    const auto space = text.find(' ');
    const bool is_rule = text.find(" is violated at ") == space && space != std::string::npos;
    return fail(is_rule ? text.substr(0, space) : "stopped", text);
  }
  out_of_events_ = !more.value();
  const auto hours = static_cast<std::uint64_t>(seconds(world_.now().time_since_epoch()) / 3600);
  const std::uint64_t most = kMostEvents * (1 + hours);
  if (++events_ > most) {
    return fail("L7", "more than " + std::to_string(most) + " events; " + unfinished(world_));
  }
  return std::nullopt;
}

ChaosPhases::Wrong ChaosPhases::fail(const std::string& rule, const std::string& message) const {
  return ChaosFailure{
      seed_, rule, seconds(world_.now().time_since_epoch()),
      input_.sim.policy + ", " + std::to_string(input_.sim.agents) + " agents: " + message};
}

}  // namespace starling
