#include "agents/executor.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "agents/executor_state.h"
#include "base/check.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kSweep = std::chrono::minutes(1);
constexpr Duration kLongest = std::chrono::hours(24 * 365);
constexpr Duration kWantedEvery = std::chrono::seconds(30);
constexpr Duration kYoung = std::chrono::minutes(2);  // frames of it may still be on their way
constexpr std::size_t kPingsKept = 64;
constexpr int kBeatsToPing = 10;  // though the owner speaks: it may not hear

/// One step: the state, the instant and where the outcome goes.
struct Step {
  ExecutorState& s;
  Instant now;
  ExecutorOutput& out;

  [[nodiscard]] NodeId owner() const { return agent_node(s.config.owner); }
  [[nodiscard]] bool beats() const { return s.config.timers.heartbeat < Duration::max(); }
  void tell(Message message) { out.send.push_back({owner(), std::move(message)}); }

  void begin();
  void tick();
  void beat();
  void report();
  void receive(const Received& event);
  void exited(const Exit& exit);

  // Handlers: from the owner only. What a repeat or a latecomer does stands at each.
  void on(const Launch& launch);
  void on(const Kill& kill);
  void on(const ExitedAck& ack);
  void on(const InventoryRequest& request);
  void on(const Welcome& welcome);
  void on(const AttemptAnswer& answer);
  void on(const Ping& ping) { tell(pong(ping)); }
  void on(const Pong& pong);
  void on(const GpuHealthSeen& seen);
  template <class Other>
  void on(const Other&) {
    ++s.refused_frames;
  }

  [[nodiscard]] Pong pong(const Ping& ping) const;
  void saw(const SickGpus& now_sick);
  void tell_health();
  [[nodiscard]] bool admit(const Fence& fence);
  [[nodiscard]] bool agree(std::uint64_t theirs);
  [[nodiscard]] std::string why_not(const Launch& launch) const;
  void stop(Run& run);
  void finish(Run& run);
  void forget(AttemptId attempt, Duration served);
  void tell_exited(Run& run);
  void ping();
  void sweep();
  [[nodiscard]] Instant wanted(const Run& run) const;
  [[nodiscard]] bool orphaned(const Run& run) const;
  void write_wanted(AttemptId attempt, Run& run);
  void keep_wanted(AttemptId attempt, Run& run);
};

/// The fence. Durable before anything that the new epoch commands, because persisting precedes
/// running.
bool Step::admit(const Fence& fence) {
  STARLING_MARK("executor: admit");
  if (fence.partition != s.config.partition) {
    ++s.refused_frames;
    return false;
  }
  const bool old = fence.epoch < s.epoch && !planted(Bug::executor_ignores_epochs);
  if (old || (planted(Bug::epoch_compared_wrongly) && fence.epoch == s.epoch)) {
    STARLING_MARK("executor: an old epoch is fenced");
    s.last_word = s.word_before;  // who was deposed is not the owner
    tell(Fenced{s.config.partition, s.epoch});
    return false;
  }
  if (fence.epoch > s.epoch) {
    STARLING_MARK("executor: a new epoch is kept");
    s.epoch = fence.epoch;
    if (planted(Bug::epoch_not_durable)) return true;
    out.persist.push_back(EpochSeen{fence.partition, fence.epoch});
  }
  return true;
}

void Step::begin() {
  STARLING_MARK("executor: begin");
  if (s.begun) return;
  s.begun = true;
  s.last_word = s.word_before = s.born = s.sweep = now;
  s.vouched = Instant::min();
  s.forgotten.date(now);
  s.hello_backoff = s.config.timers.retry_min;
  out.persist.push_back(LifeBegan{s.config.incarnation, s.epoch});
  if (s.config.topology != 0) out.persist.push_back(TopologyRead{s.config.topology});
  for (auto& [attempt, run] : s.runs) {
    run.since = now;
    if (!s.config.calendar || run.phase == Run::Phase::exited) continue;
    if (run.wanted) {
      run.since = std::min(now, Instant(*run.wanted - *s.config.calendar));
    } else {
      write_wanted(attempt, run);
    }
  }
  if (beats()) s.beat = later(now, s.config.timers.heartbeat);
  if (!beats()) s.report = later(now, s.config.timers.report);
}

/// Whether the owner means the same GPUs by the same numbers.
bool Step::agree(std::uint64_t theirs) {
  const std::uint64_t mine = s.topology_said();
  s.agreed = mine == 0 || theirs == 0 || mine == theirs;
  if (!s.agreed) ++s.refused_frames;
  return s.agreed;
}

std::string Step::why_not(const Launch& launch) const {
  const auto outside = [&](GpuId gpu) { return !s.gpus.contains(gpu.value); };
  if (launch.here.empty()) return "no GPU is named";
  if (std::adjacent_find(launch.here.begin(), launch.here.end(), std::greater_equal<>()) !=
      launch.here.end()) {
    return "its GPUs are not in ascending order";
  }
  if (std::any_of(launch.here.begin(), launch.here.end(), outside)) {
    return "a GPU is on a server of another executor";
  }
  for (const Share& share : launch.gang) {
    for (const GpuId gpu : share.gpus) {
      if (gpu.value >= s.topology.gpu_count()) return "its gang names a GPU that does not exist";
    }
  }
  if (s.any_full(launch.here)) return "a GPU is busy";
  return {};
}

/// Again: the same result. After the end, a kill or a refusal: refused for good.
void Step::on(const Launch& launch) {
  STARLING_MARK("executor: Launch");
  if (!admit(launch.fence)) return;
  // The same numbers may be other GPUs here. Or it was meant for an earlier life whose disk is
  // lost, and the attempt is over. The owner repeats what it still wants.
  if (!s.agreed) {
    STARLING_MARK("executor: a Launch before both agree on the topology");
    ++s.refused_frames;
    return;
  }
  if (s.forgotten.contains(launch.attempt)) {
    STARLING_MARK("executor: a Launch of what is over");
    return tell(LaunchResult{launch.attempt, false, "the attempt is over"});
  }
  if (const auto known = s.runs.find(launch.attempt); known != s.runs.end()) {
    const bool killed = known->second.killed;
    return tell(
        LaunchResult{launch.attempt, !killed, killed ? "the attempt is being stopped" : ""});
  }
  // Not for good, and without a trace: there is no room for one.
  if (s.unheard >= kUnheardEnds || s.forgotten.full_of_young(now - kYoung)) {
    return tell(LaunchResult{launch.attempt, false, "too many attempts have ended here lately"});
  }
  std::string reason = why_not(launch);
  std::vector<LaunchSpec> parts;
  if (reason.empty()) {
    parts = parts_of(launch, s.topology);
    if (parts.empty()) reason = "its GPUs are not a part of its gang";
  }
  if (!reason.empty()) {
    forget(launch.attempt, Duration{0});
    return tell(LaunchResult{launch.attempt, false, std::move(reason)});
  }
  Run run;
  run.launch = launch;
  run.since = now;
  out.persist.push_back(ProcessLaunching{launch});
  s.mark(launch.here, true);
  for (LaunchSpec& part : parts) {
    run.parts.push_back({part.server});
    out.run.push_back(std::move(part));
  }
  s.runs.emplace(launch.attempt, std::move(run));
  tell(LaunchResult{launch.attempt, true, {}});
}

/// Killed only once nothing of it is left; valid in every state, also before the Launch.
void Step::on(const Kill& kill) {
  STARLING_MARK("executor: Kill");
  if (!admit(kill.fence)) return;
  if (const Tombstone* over = s.forgotten.find(kill.attempt)) {
    return tell(Killed{kill.attempt, over->served});
  }
  const auto at = s.runs.find(kill.attempt);
  if (at != s.runs.end() && at->second.phase != Run::Phase::exited) {
    at->second.killed = true;
    return stop(at->second);
  }
  const Duration served = at == s.runs.end() ? Duration{0} : at->second.served;
  forget(kill.attempt, served);
  tell(Killed{kill.attempt, served});
}

void Step::on(const ExitedAck& ack) {
  STARLING_MARK("executor: ExitedAck");
  const auto at = s.runs.find(ack.attempt);
  if (at == s.runs.end() || at->second.phase != Run::Phase::exited) return;
  forget(ack.attempt, at->second.served);
}

void Step::on(const InventoryRequest& request) {
  STARLING_MARK("executor: InventoryRequest");
  if (!admit(request.fence) || !agree(request.topology)) return;
  Inventory inventory{request.fence, {}, s.health_version(), s.sick_gpus()};
  std::size_t room = s.config.limits.frame_bytes / 4;  // for last words: the rest has to fit, too
  for (const auto& [attempt, run] : s.runs) {
    inventory.items.push_back(
        {attempt, run.launch.here, run.phase == Run::Phase::exited, run.exit, run.served});
    std::string& tail = inventory.items.back().exit.log_tail;
    if (tail.size() > room) tail.clear();
    room -= tail.size();
  }
  tell(std::move(inventory));
}

void Step::on(const Welcome& welcome) {
  STARLING_MARK("executor: Welcome");
  if (!admit(welcome.fence) || !agree(welcome.topology)) return;
  s.welcomed = true;
  s.hello = kNever;
}

/// How old the home's word is. One that was overtaken by a newer one is dropped.
void Step::on(const AttemptAnswer& answer) {
  STARLING_MARK("executor: AttemptAnswer");
  const auto at = s.runs.find(answer.attempt);
  if (at == s.runs.end() || at->second.phase == Run::Phase::exited) return;
  Run& run = at->second;
  if (answer.life != AttemptLife::live || answer.token <= run.token) return;
  run.token = answer.token;
  run.word = now - std::min(answer.age, s.config.timers.orphan);
}

/// The owner hears us: that counts from the Ping, so a late Pong lengthens nothing.
void Step::on(const Pong& pong) {
  STARLING_MARK("executor: Pong");
  while (!s.pinged.empty() && s.pinged.front().first <= pong.sequence) {
    if (s.pinged.front().first == pong.sequence) s.vouched = s.pinged.front().second;
    s.pinged.pop_front();
  }
}

void Step::ping() {
  STARLING_MARK("executor: ping");
  if (s.pinged.size() >= kPingsKept) s.pinged.pop_front();
  s.pinged.emplace_back(++s.pings, now);
  tell(Ping{s.pings});
}

/// Somebody could have been told of its end: the owner, and the home by the owner.
Instant Step::wanted(const Run& run) const {
  const Instant word = std::max(run.since, s.vouched);
  return run.token > 0 ? std::min(word, run.word) : word;
}

bool Step::orphaned(const Run& run) const {
  STARLING_MARK("executor: orphaned");
  return later(wanted(run), s.config.timers.orphan) <= now;
}

void Step::write_wanted(AttemptId attempt, Run& run) {
  run.wanted = *s.config.calendar + wanted(run).time_since_epoch();
  out.persist.push_back(ProcessWanted{attempt, *run.wanted});
}

/// So that the next life counts silence on from there: now and then, and once when it begins.
void Step::keep_wanted(AttemptId attempt, Run& run) {
  if (!s.config.calendar) return;
  const Duration at = *s.config.calendar + wanted(run).time_since_epoch();
  const Duration known =
      run.wanted ? *run.wanted : *s.config.calendar + run.since.time_since_epoch();
  const bool silent = later(wanted(run), kWantedEvery) <= now;
  if (at - known >= kWantedEvery || (silent && at != run.wanted)) write_wanted(attempt, run);
}

void Step::sweep() {
  STARLING_MARK("executor: sweep");
  s.sweep = now;
  const Instant before = now - std::min(s.config.timers.retention, kLongest);
  std::vector<AttemptId> dropped = s.forgotten.sweep(before, [](AttemptId) { return false; });
  if (!dropped.empty()) out.persist.push_back(TombstonesDropped{std::move(dropped)});
}

void Step::receive(const Received& event) {
  if (event.from != owner()) {
    // Somebody asks for the owner's sake whether this node lives.
    const auto* ping = std::get_if<Ping>(&event.message);
    if (ping != nullptr && s.config.protocol >= 2 && event.from.value < kFirstExecutor) {
      out.send.push_back({event.from, pong(*ping)});
    } else {
      ++s.refused_frames;
    }
    return;
  }
  s.word_before = std::exchange(s.last_word, now);
  s.owner_speaks = event.protocol;
  std::visit([&](const auto& message) { on(message); }, event.message);
}

Pong Step::pong(const Ping& ping) const {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(s.lag).count();
  return {ping.sequence, static_cast<std::uint32_t>(std::clamp<std::int64_t>(us, 0, UINT32_MAX))};
}

/// A bad GPU stays out of use until it has been well for Timers::gpu_quiet, so that one that comes
/// and goes does not take a job with it each time.
void Step::saw(const SickGpus& now_sick) {
  bool news = false;
  for (auto& [gpu, well] : s.sick) {
    const bool bad = std::binary_search(now_sick.gpus.begin(), now_sick.gpus.end(), gpu);
    if (bad) well = kNever;
    if (!bad && well == kNever) well = now;
  }
  for (const GpuId gpu : now_sick.gpus) {
    if (s.gpus.contains(gpu.value)) news = s.sick.emplace(gpu, kNever).second || news;
  }
  if (news) tell_health();
}

void Step::tell_health() {
  ++s.health;
  s.health_seen = false;
  if (s.owner_speaks >= 2) tell(GpuHealth{s.health_version(), s.sick_gpus()});
}

void Step::on(const GpuHealthSeen& seen) {
  if (seen.version == s.health_version()) s.health_seen = true;
}

void Step::stop(Run& run) {
  STARLING_MARK("executor: stop");
  if (run.phase != Run::Phase::running) return;
  run.phase = Run::Phase::stopping;
  out.run.push_back(StopSpec{run.launch.attempt, s.config.timers.kill_grace});
}

/// One part ended. A gang lives and dies together: the first failure stops the other parts.
void Step::exited(const Exit& exit) {
  STARLING_MARK("executor: exited");
  const auto at = s.runs.find(exit.attempt);
  if (at == s.runs.end() || at->second.phase == Run::Phase::exited) return;
  Run& run = at->second;
  const auto part = std::find_if(run.parts.begin(), run.parts.end(),
                                 [&](const RunPart& p) { return p.server == exit.server; });
  if (part == run.parts.end() || part->ended) return;
  part->ended = true;
  part->served = exit.served;
  const bool failed = exit.exit.code != 0 || exit.exit.lost;
  if (!run.failed && (failed || run.exit.log_tail.empty())) run.exit = exit.exit;
  run.failed = run.failed || failed;
  const auto ended = [](const RunPart& p) { return p.ended; };
  if (std::all_of(run.parts.begin(), run.parts.end(), ended)) return finish(run);
  if (failed && !planted(Bug::part_lives_on)) stop(run);
}

void Step::finish(Run& run) {
  STARLING_MARK("executor: finish");
  const AttemptId attempt = run.launch.attempt;
  run.served = Duration::max();
  for (const RunPart& part : run.parts) run.served = std::min(run.served, part.served);
  if (run.orphaned) {
    run.exit.lost = true;
    run.exit.log_tail = "stopped: its owner had been silent for too long";
  }
  s.mark(run.launch.here, false);
  run.phase = Run::Phase::exited;
  ++s.unheard;
  if (!planted(Bug::exit_not_durable)) {
    out.persist.push_back(ProcessExited{attempt, run.exit, run.served});
  }
  if (!run.killed) return tell_exited(run);
  const Duration served = run.served;
  forget(attempt, served);
  tell(Killed{attempt, served});
}

void Step::forget(AttemptId attempt, Duration served) {
  STARLING_MARK("executor: forget");
  s.forget(attempt, served, now);
  out.persist.push_back(ProcessForgotten{attempt});
}

void Step::tell_exited(Run& run) {
  STARLING_MARK("executor: tell_exited");
  const AttemptId attempt = run.launch.attempt;
  tell(Exited{attempt, s.config.partition, run.exit, run.served});
  s.resends.erase({run.resend, attempt});
  const Timers& timers = s.config.timers;
  run.backoff = std::clamp(run.backoff * 2, timers.retry_min, timers.retry_max);
  run.resend = later(now, run.backoff);
  s.resends.emplace(run.resend, attempt);
}

void Step::tick() {
  STARLING_MARK("executor: tick");
  if (s.hello <= now) {
    tell(Hello{Role::executor, kOldestProtocol, s.config.protocol, {}, s.topology_said()});
    s.hello = later(now, s.hello_backoff);
    s.hello_backoff = std::min(s.hello_backoff * 2, s.config.timers.retry_max);
  }
  while (!s.resends.empty() && s.resends.begin()->first <= now) {
    tell_exited(s.runs.at(s.resends.begin()->second));
  }
  if (later(s.sweep, kSweep) <= now) sweep();
  if (s.beat <= now) beat();
  if (s.report <= now) {
    report();
    s.report = later(now, s.config.timers.report);
  }
}

void Step::beat() {
  STARLING_MARK("executor: beat");
  const Timers& timers = s.config.timers;
  s.lag = std::max(now - s.beat, s.lag / 2);
  s.beat = later(now, timers.heartbeat);
  const Instant pinged = s.pinged.empty() ? std::max(s.born, s.vouched) : s.pinged.back().second;
  const bool silent = later(s.last_word, timers.heartbeat) <= now;
  if (s.welcomed && (silent || later(pinged, timers.heartbeat * kBeatsToPing) <= now)) ping();
  const auto recovered = [&](const auto& gpu) {
    return later(gpu.second, timers.gpu_quiet) <= now;
  };
  if (std::erase_if(s.sick, recovered) > 0) {
    tell_health();
  } else if (!s.health_seen && s.owner_speaks >= 2) {
    tell(GpuHealth{s.health_version(), s.sick_gpus()});
  }
  for (auto& [attempt, run] : s.runs) {
    if (run.phase == Run::Phase::exited) continue;
    if (run.phase == Run::Phase::running && orphaned(run)) {
      run.orphaned = true;
      stop(run);
    }
    keep_wanted(attempt, run);
  }
  report();
}

/// How far everything has come that was measured since the last time.
void Step::report() {
  for (auto& [attempt, run] : s.runs) {
    if (run.phase != Run::Phase::exited && std::exchange(run.measured, false)) tell(run.progress);
  }
}

}  // namespace

Executor::Executor(ExecutorConfig config, const Topology& topology,
                   std::span<const Record> recovered)
    : state_(std::make_unique<ExecutorState>(std::move(config), topology)) {
  for (const Record& record : recovered) state_->replay(record);
}
Executor::Executor(std::unique_ptr<ExecutorState> state) : state_(std::move(state)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

void Executor::step(Instant now, const ExecutorEvent& event, ExecutorOutput& out) {
  Step step{*state_, now, out};
  step.begin();
  if (const auto* received = std::get_if<Received>(&event)) {
    step.receive(*received);
  } else if (const auto* exit = std::get_if<Exit>(&event)) {
    step.exited(*exit);
  } else if (const auto* progress = std::get_if<Progress>(&event)) {
    const auto run = state_->runs.find(progress->attempt);
    if (run != state_->runs.end()) {
      run->second.progress = *progress;
      run->second.measured = true;
    }
    return;  // the beat comes with Tick, when all have been measured
  } else if (const auto* sick = std::get_if<SickGpus>(&event)) {
    step.saw(*sick);
  }
  step.tick();
}

Instant Executor::next_deadline() const noexcept {
  const Instant resend = state_->resends.empty() ? kNever : state_->resends.begin()->first;
  return std::min({state_->hello, state_->beat, state_->report, resend});
}

const ExecutorConfig& Executor::config() const noexcept { return state_->config; }
const ExecutorState& Executor::state() const noexcept { return *state_; }

Executor Executor::clone() const { return Executor(std::make_unique<ExecutorState>(*state_)); }

std::vector<LaunchSpec> Executor::running() const {
  std::vector<LaunchSpec> all;
  for (const auto& [attempt, run] : state_->runs) {
    if (run.phase == Run::Phase::exited) continue;
    const std::vector<LaunchSpec> parts = parts_of(run.launch, state_->topology);
    STARLING_CHECK(parts.size() == run.parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!run.parts[i].ended) all.push_back(parts[i]);
    }
  }
  return all;
}

std::vector<Record> Executor::snapshot() const {
  std::vector<Record> records;
  records.push_back(LifeBegan{state_->config.incarnation, state_->epoch});
  if (state_->config.topology != 0) records.push_back(TopologyRead{state_->config.topology});
  for (const AttemptId attempt : state_->forgotten.order()) {
    records.push_back(ProcessForgotten{attempt});
    const Duration served = state_->forgotten.find(attempt)->served;
    if (served > Duration{0}) records.push_back(TombstoneServed{attempt, served});
  }
  for (const auto& [attempt, run] : state_->runs) {
    records.push_back(ProcessLaunching{run.launch});
    if (run.wanted) records.push_back(ProcessWanted{attempt, *run.wanted});
    if (run.phase == Run::Phase::exited) {
      records.push_back(ProcessExited{attempt, run.exit, run.served});
    }
  }
  return records;
}

}  // namespace starling
