#include "tests/search/world.h"

#include <algorithm>
#include <utility>

#include "agents/executor_state.h"
#include "agents/state.h"
#include "agents/testing.h"
#include "base/check.h"
#include "base/hash.h"
#include "bus/codec.h"
#include "tests/search/policy.h"

namespace starling::search {
namespace {

constexpr std::uint32_t kDeposed = 4;  // behind two agents and two executors
constexpr std::uint32_t kTicksAtOneInstant = 1000;

std::uint32_t seat_of(NodeId node) {
  return node.value >= kFirstExecutor ? 2 + node.value - kFirstExecutor : node.value - 1;
}

std::uint32_t bit(Action::Kind kind) { return 1U << static_cast<std::uint32_t>(kind); }

Codec& codec() {
  static Codec one;
  return one;
}

}  // namespace

/// A frame under way: what the codec made of a message and what it read back from that.
struct SmallWorld::Frame {
  NodeId from, to;
  Incarnation incarnation;
  Message message;
  std::uint64_t hash = 0;
};

SmallWorld::SmallWorld(const Setting& setting)
    : setting_(&setting),
      faults_left_(setting.faults.all),
      timeouts_left_(setting.faults.timeouts),
      checker_(setting.agents[0].flock) {
  for (std::uint32_t a = 0; a < 2; ++a) {
    agents_[a].epoch = Epoch{1};
    start_agent(a);
  }
  for (std::uint32_t e = 0; e < 2; ++e) start_executor(e);
  for (std::uint32_t a = 0; a < 2; ++a) {
    Submit submit;
    submit.spec = setting.jobs[a];
    post(client_node(0), Incarnation{1}, {agent_node(AgentId{a}), submit});
  }
}

SmallWorld::AgentSeat SmallWorld::copy(const AgentSeat& seat) {
  AgentSeat twin;
  twin.incarnation = seat.incarnation;
  twin.epoch = seat.epoch;
  if (seat.core) twin.core.emplace(seat.core->clone());
  twin.journal = seat.journal;
  twin.journal_hash = seat.journal_hash;
  twin.fenced = seat.fenced;
  twin.seen = seat.seen;
  return twin;
}

SmallWorld::ExecutorSeat SmallWorld::copy(const ExecutorSeat& seat) {
  ExecutorSeat twin;
  twin.incarnation = seat.incarnation;
  if (seat.core) twin.core.emplace(seat.core->clone());
  twin.journal = seat.journal;
  twin.journal_hash = seat.journal_hash;
  twin.seen = seat.seen;
  return twin;
}

SmallWorld::SmallWorld(const SmallWorld& other)
    : setting_(other.setting_),
      now_(other.now_),
      agents_{copy(other.agents_[0]), copy(other.agents_[1])},
      executors_{copy(other.executors_[0]), copy(other.executors_[1])},
      deposed_agent_(other.deposed_agent_),
      frames_(other.frames_),
      processes_(other.processes_),
      accepted_(other.accepted_),
      faults_left_(other.faults_left_),
      timeouts_left_(other.timeouts_left_),
      used_(other.used_),
      checker_(other.checker_),
      failed_(other.failed_) {
  if (other.deposed_) deposed_ = copy(*other.deposed_);
}

void SmallWorld::start_agent(std::uint32_t a) {
  AgentSeat& seat = agents_[a];
  ++seat.incarnation.value;
  AgentConfig config = setting_->agents[a];
  config.incarnation = seat.incarnation;
  config.epoch = seat.epoch;
  std::vector<Record> recovered;
  for (const auto& record : seat.journal) recovered.push_back(*record);
  seat.core.emplace(Agent(std::move(config), setting_->topology, *setting_->speed,
                          std::make_unique<AtOnce>(), Rng(1, a), recovered));
  seat.seen = {};
  step(a, Tick{});
}

void SmallWorld::start_executor(std::uint32_t e) {
  ExecutorSeat& seat = executors_[e];
  ++seat.incarnation.value;
  ExecutorConfig config = setting_->executors[e];
  config.incarnation = seat.incarnation;
  std::vector<Record> recovered;
  for (const auto& record : seat.journal) recovered.push_back(*record);
  seat.core.emplace(Executor(std::move(config), setting_->topology, recovered));
  seat.seen = {};
  // What ran and is gone is lost, as a launcher says that could not adopt it.
  for (const LaunchSpec& part : seat.core->running()) {
    const bool lives = std::any_of(processes_.begin(), processes_.end(), [&](const Process& p) {
      return p.attempt == part.attempt && p.server == part.server;
    });
    if (!lives) step(2 + e, Exit{part.attempt, part.server, {0, true, "the machine died"}, {}});
  }
  step(2 + e, Tick{});
}

Instant SmallWorld::deadline(std::uint32_t node) const {
  if (node < 2) return agents_[node].core->next_deadline();
  if (node < kDeposed) return executors_[node - 2].core->next_deadline();
  return deposed_ && deposed_->core ? deposed_->core->next_deadline() : kNever;
}

void SmallWorld::fail(const std::string& what) {
  if (!failed_) failed_ = what;
}

const std::optional<std::string>& SmallWorld::violation() const noexcept {
  return failed_ ? failed_ : checker_.violation();
}

void SmallWorld::step(std::uint32_t node, const ExecutorEvent& event) {
  if (node >= 2 && node < kDeposed) {
    step_executor(node - 2, event);
  } else {
    AgentSeat& seat = node < 2 ? agents_[node] : *deposed_;
    if (!seat.core) return;
    const auto* received = std::get_if<Received>(&event);
    step_agent(seat, node < 2 ? node : deposed_agent_, received ? Event(*received) : Event(Tick{}));
  }
  tick_due(node);
}

/// As the driver loop: what is due is done before the next frame.
void SmallWorld::tick_due(std::uint32_t node) {
  std::uint32_t ticks = 0;
  while (deadline(node) <= now_) {
    if (++ticks > kTicksAtOneInstant) return fail("a node never stops deciding");
    if (node >= 2 && node < kDeposed) {
      step_executor(node - 2, Tick{});
    } else {
      step_agent(node < 2 ? agents_[node] : *deposed_, node < 2 ? node : deposed_agent_, Tick{});
    }
  }
}

void SmallWorld::step_agent(AgentSeat& seat, std::uint32_t a, const Event& event) {
  Output out;
  seat.core->step(now_, event, out);
  if (seat.fenced && !out.persist.empty()) return seat.core.reset();
  checker_.wrote(now_, agent_node(AgentId{a}), out.persist);
  for (Record& record : out.persist) {
    seat.journal_hash = mix64(seat.journal_hash ^ search::fingerprint(record));
    if (const auto* accepted = std::get_if<JobAccepted>(&record)) {
      const JobId id = accepted->submit.spec.id;
      const auto at = std::lower_bound(accepted_.begin(), accepted_.end(), id);
      if (at == accepted_.end() || *at != id) accepted_.insert(at, id);
    }
    seat.journal.push_back(std::make_shared<const Record>(std::move(record)));
  }
  for (const Send& send : out.send) post(agent_node(AgentId{a}), seat.incarnation, send);
}

void SmallWorld::step_executor(std::uint32_t e, const ExecutorEvent& event) {
  ExecutorSeat& seat = executors_[e];
  ExecutorOutput out;
  seat.core->step(now_, event, out);
  checker_.wrote(now_, executor_node(e), out.persist);
  for (Record& record : out.persist) {
    seat.journal_hash = mix64(seat.journal_hash ^ search::fingerprint(record));
    seat.journal.push_back(std::make_shared<const Record>(std::move(record)));
  }
  for (const Send& send : out.send) post(executor_node(e), seat.incarnation, send);
  for (const RunCommand& command : out.run) run(e, command);
}

/// A set: what is under way already is not under way twice.
void SmallWorld::post(NodeId from, Incarnation incarnation, const Send& send) {
  if (std::holds_alternative<Digest>(send.message)) return;
  if (send.to.value >= kFirstClient) {
    return checker_.arrived(now_, from, send.to, send.message, incarnation);
  }
  const auto bytes = codec().encode({1, incarnation, 1}, send.message);
  TraceHash hash;
  hash.add((std::uint64_t{from.value} << 32U) | send.to.value);
  hash.add(bytes);
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), hash.value(),
                                   [](const auto& f, std::uint64_t h) { return f->hash < h; });
  if (at != frames_.end() && (*at)->hash == hash.value()) return;
  auto back = codec().decode(bytes);
  if (!back) return fail("a node sent what the codec refuses: " + back.error().message);
  auto frame = std::make_shared<Frame>();
  frame->from = from;
  frame->to = send.to;
  frame->incarnation = incarnation;
  frame->message = std::move(back.value().message);
  frame->hash = hash.value();
  frames_.insert(at, std::move(frame));
}

const SmallWorld::Frame& SmallWorld::frame(std::uint64_t hash) const {
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), hash,
                                   [](const auto& f, std::uint64_t h) { return f->hash < h; });
  STARLING_CHECK(at != frames_.end() && (*at)->hash == hash);
  return **at;
}

/// Frames of a sender's earlier life are dropped, as the driver loop does.
void SmallWorld::arrive(std::uint32_t node, const Frame& frame) {
  if (frame.from.value < kFirstClient) {
    auto& seen = node < 2 ? agents_[node].seen
                          : (node < kDeposed ? executors_[node - 2].seen : deposed_->seen);
    Incarnation& newest = seen[seat_of(frame.from)];
    if (frame.incarnation < newest) return;
    newest = frame.incarnation;
  }
  step(node, Received{frame.from, frame.message});
}

void SmallWorld::deliver(const Frame& frame, bool deposed_too) {
  checker_.arrived(now_, frame.from, frame.to, frame.message, frame.incarnation);
  const std::uint32_t node = seat_of(frame.to);
  arrive(node, frame);
  if (deposed_too && node < 2 && deposed_ && deposed_agent_ == node) arrive(kDeposed, frame);
}

void SmallWorld::run(std::uint32_t e, const RunCommand& command) {
  if (const auto* launch = std::get_if<LaunchSpec>(&command)) {
    Process process{launch->attempt, launch->server, e, launch->gpus};
    const auto at = std::lower_bound(processes_.begin(), processes_.end(), process,
                                     [](const Process& a, const Process& b) {
                                       return std::tie(a.attempt, a.server) <
                                              std::tie(b.attempt, b.server);
                                     });
    processes_.insert(at, std::move(process));
    return note_whole();
  }
  const AttemptId attempt = std::get<StopSpec>(command).attempt;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].attempt != attempt || processes_[p].executor != e) continue;
    processes_[p].stopping = true;
    if (!setting_->canary || processes_[p].reported) continue;
    processes_[p].reported = true;
    const Exit exit{attempt, processes_[p].server, {-15, false, {}}, std::chrono::seconds(1)};
    step(2 + e, exit);
  }
}

void SmallWorld::note_whole() {
  for (Process& process : processes_) {
    std::size_t parts = 0;
    for (const Process& other : processes_) parts += other.attempt == process.attempt ? 1 : 0;
    process.whole = process.whole || parts == setting_->jobs[process.attempt.job.lo - 1].gpus();
  }
}

void SmallWorld::end(std::size_t index, std::int32_t code) {
  const Process process = processes_[index];
  processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
  if (process.reported) return;
  step(2 + process.executor,
       Exit{process.attempt, process.server, {code, false, {}}, std::chrono::seconds(1)});
}

std::vector<Action> SmallWorld::actions() const {
  using Kind = Action::Kind;
  std::vector<Action> all;
  for (const auto& f : frames_) all.push_back({Kind::deliver, seat_of(f->to), f->hash});
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].whole || processes_[p].stopping) all.push_back({Kind::end, 0, p});
  }
  const std::uint32_t nodes = deposed_ && deposed_->core ? 5 : 4;
  for (std::uint32_t n = 0; n < nodes && timeouts_left_ > 0; ++n) {
    if (deadline(n) < kNever) all.push_back({Kind::timeout, n, 0});
  }
  if (faults_left_ == 0) return all;
  for (const auto& f : frames_) all.push_back({Kind::repeat, seat_of(f->to), f->hash});
  if (nodes == 5) {
    for (const auto& f : frames_) {
      if (f->to == agent_node(AgentId{deposed_agent_})) all.push_back({Kind::stray, 4, f->hash});
    }
  }
  const auto may = [&](Kind kind) { return (used_ & bit(kind)) == 0; };
  for (std::size_t p = 0; p < processes_.size() && may(Kind::fail); ++p) {
    if (!processes_[p].stopping) all.push_back({Kind::fail, 0, p});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    for (const Kind kind : {Kind::crash_agent, Kind::take_over}) {
      if (may(kind)) all.push_back({kind, i, 0});
    }
    for (const Kind kind : {Kind::crash_executor, Kind::crash_machine}) {
      if (may(kind)) all.push_back({kind, 2 + i, 0});
    }
  }
  return all;
}

void SmallWorld::apply(const Action& action) {
  using Kind = Action::Kind;
  if (action.kind != Kind::deliver && action.kind != Kind::end && action.kind != Kind::timeout) {
    faults_left_ -= faults_left_ > 0 ? 1 : 0;
    if (action.kind != Kind::repeat && action.kind != Kind::stray) used_ |= bit(action.kind);
  }
  switch (action.kind) {
    case Kind::deliver: {
      const auto at = std::lower_bound(frames_.begin(), frames_.end(), action.what,
                                       [](const auto& f, std::uint64_t h) { return f->hash < h; });
      const std::shared_ptr<const Frame> taken = *at;
      frames_.erase(at);
      deliver(*taken, true);
      break;
    }
    case Kind::repeat:
    case Kind::stray: {
      const Frame again = frame(action.what);
      action.kind == Kind::repeat ? deliver(again, true) : arrive(kDeposed, again);
      break;
    }
    case Kind::timeout:
      timeouts_left_ -= timeouts_left_ > 0 ? 1 : 0;
      now_ = std::max(now_, deadline(action.node));
      tick_due(action.node);
      break;
    case Kind::end:
    case Kind::fail:
      end(action.what, action.kind == Kind::fail ? 1 : processes_[action.what].stopping ? -15 : 0);
      break;
    case Kind::take_over:
      deposed_ = copy(agents_[action.node]);
      deposed_->fenced = true;
      deposed_agent_ = action.node;
      ++agents_[action.node].epoch.value;
      [[fallthrough]];
    case Kind::crash_agent:
      start_agent(action.node);
      break;
    case Kind::crash_machine:
      std::erase_if(processes_, [&](const Process& p) { return p.executor == action.node - 2; });
      [[fallthrough]];
    case Kind::crash_executor:
      start_executor(action.node - 2);
      break;
  }
  look();
}

void SmallWorld::look() {
  WorldView view;
  for (const Process& process : processes_) view.processes.push_back({process.attempt, process.gpus});
  for (std::uint32_t a = 0; a < 2; ++a) {
    view.ledgers.push_back(ledger_view(agents_[a].core->state()));
  }
  checker_.look(now_, view);
  const AgentState* const agents[] = {&agents_[0].core->state(), &agents_[1].core->state()};
  checker_.look_at_changes(now_, agents);
}

std::optional<Action> SmallWorld::fair() const {
  if (!frames_.empty()) {
    return Action{Action::Kind::deliver, seat_of(frames_.front()->to), frames_.front()->hash};
  }
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].whole || processes_[p].stopping) return Action{Action::Kind::end, 0, p};
  }
  std::uint32_t first = 0;
  for (std::uint32_t n = 1; n < 5; ++n) {
    if (deadline(n) < deadline(first)) first = n;
  }
  if (deadline(first) == kNever) return std::nullopt;
  return Action{Action::Kind::timeout, first, 0};
}

void SmallWorld::heal(bool lose_frames) {
  deposed_.reset();
  faults_left_ = timeouts_left_ = 0;
  if (lose_frames) frames_.clear();
}

bool SmallWorld::settled() const { return leftovers().empty(); }

std::string SmallWorld::leftovers() const {
  if (!processes_.empty()) return std::to_string(processes_.size()) + " processes run";
  for (const JobId id : accepted_) {
    const bool over = std::any_of(agents_.begin(), agents_.end(), [&](const AgentSeat& seat) {
      return seat.core->state().ended.contains(id);
    });
    if (!over) return "job " + std::to_string(id.lo) + " was accepted and has not ended";
  }
  for (std::uint32_t a = 0; a < 2; ++a) {
    const AgentState& state = agents_[a].core->state();
    const std::string who = "agent " + std::to_string(a);
    if (!state.jobs.empty()) return who + " has open jobs";
    if (!state.ledger.holds().empty()) return who + " holds GPUs for " +
                                       to_string(state.ledger.holds().begin()->first);
    if (state.reconciling()) return who + " is still reconciling";
    if (state.ledger.free_count() != state.partition.gpus.size()) return who + " lacks free GPUs";
  }
  return {};
}

std::string SmallWorld::describe(const Action& action) const {
  using Kind = Action::Kind;
  const auto node = [&](std::uint32_t n) {
    if (n < 2) return "agent " + std::to_string(n);
    return n < kDeposed ? "executor " + std::to_string(n - 2)
                        : "deposed agent " + std::to_string(deposed_agent_);
  };
  const auto frame_text = [&] {
    const Frame& f = frame(action.what);
    const std::string from =
        f.from.value >= kFirstClient ? "client" : node(seat_of(f.from));
    return from + " -> " + node(seat_of(f.to)) + ": " + starling::describe(f.message);
  };
  switch (action.kind) {
    case Kind::deliver:
      return frame_text();
    case Kind::repeat:
      return frame_text() + " (and once more later)";
    case Kind::stray:
      return frame_text() + " (at the deposed owner only)";
    case Kind::timeout:
      return "clock of " + node(action.node);
    case Kind::end:
    case Kind::fail: {
      const Process& p = processes_[action.what];
      return std::string(action.kind == Kind::fail ? "process fails: " : "process ends: ") +
             to_string(p.attempt) + " on executor " + std::to_string(p.executor);
    }
    case Kind::crash_agent:
      return node(action.node) + " crashes and is back";
    case Kind::take_over:
      return "partition of " + node(action.node) + " is taken over";
    case Kind::crash_executor:
      return node(action.node) + " crashes and is back, its processes live on";
    case Kind::crash_machine:
      return node(action.node) + " and its processes die; it is back";
  }
  return {};
}

std::uint64_t SmallWorld::fingerprint() const {
  TraceHash hash;
  const auto seen = [&](const std::array<Incarnation, 4>& all) {
    for (const Incarnation i : all) hash.add(i.value);
  };
  const auto agent = [&](const AgentSeat& seat) {
    hash.add(seat.core ? search::fingerprint(seat.core->state(), now_) : 0);
    hash.add(seat.journal_hash);
    seen(seat.seen);
  };
  for (const AgentSeat& seat : agents_) agent(seat);
  hash.add(deposed_ ? deposed_agent_ + 1 : 0);
  if (deposed_) agent(*deposed_);
  for (const ExecutorSeat& seat : executors_) {
    hash.add(search::fingerprint(seat.core->state()));
    hash.add(seat.journal_hash);
    seen(seat.seen);
  }
  for (const auto& f : frames_) hash.add(f->hash);
  for (const Process& p : processes_) {
    hash.add(p.attempt.job.lo);
    hash.add(p.attempt.home_epoch.value);
    hash.add(p.attempt.number);
    hash.add(p.server.value * 8 + (p.stopping ? 1 : 0) + (p.whole ? 2 : 0) + (p.reported ? 4 : 0));
  }
  hash.add((std::uint64_t{faults_left_} << 32U) | timeouts_left_);
  hash.add(used_);
  return hash.value();
}

}  // namespace starling::search
