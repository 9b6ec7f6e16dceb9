// SPDX-License-Identifier: Apache-2.0
#include "python/environment/decision_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "gnn/learned_system.h"
#include "gnn/marl/marl_scorer.h"
#include "policies/placement/chooser.h"
#include "policies/placement/placement_policy.h"
#include "sim/world/world.h"

namespace starling {
namespace {

constexpr const char* kName = "marl";

/// Weights that prefer nothing: scores are asked for, and no choice goes by them.
Weights no_preference() {
  Weights weights;
  constexpr auto kOwn = static_cast<std::uint32_t>(Features::kOwn);
  constexpr auto kRow = static_cast<std::uint32_t>(Features::kRow);
  weights.tensors["skip"] = {{kOwn}, std::vector<float>(kOwn)};
  weights.tensors["actor.0.weight"] = {{1, kRow}, std::vector<float>(kRow)};
  weights.tensors["actor.0.bias"] = {{1}, {0.0F}};
  return weights;
}

const LearnedSystem& learned_marl() {
  static const std::vector<LearnedSystem> all = learned_systems();
  const auto found =
      std::ranges::find_if(all, [](const LearnedSystem& one) { return one.facts.name == kName; });
  STARLING_CHECK(found != all.end());
  return *found;
}

double seconds_of(Instant at) { return seconds(at.time_since_epoch()); }

}  // namespace

/// Another placement policy's scorer, which looks on.
class DecisionRun::Teacher {
 public:
  explicit Teacher(std::unique_ptr<Scorer> scorer) : scorer_(std::move(scorer)) {}
  void begin(const DecisionContext& context) { scorer_->begin(context); }
  void passed_over(const QueueEntry& entry) { scorer_->passed_over(entry); }
  [[nodiscard]] std::size_t would_take(const DecisionPoint& point) {
    scores_.assign(point.options.size(), 0);
    scorer_->score(point, scores_);
    return best_of(scores_);
  }

 private:
  std::unique_ptr<Scorer> scorer_;
  std::vector<double> scores_;
};

class DecisionRun::Asking final : public Chooser {
 public:
  Asking(DecisionRun& run, AgentId agent, Teacher* teacher)
      : run_(run), agent_(agent), teacher_(teacher) {}
  /// Before the run; the scorer lasts for it.
  void attach(const MarlScorer& scorer) noexcept { scorer_ = &scorer; }
  void begin(const DecisionContext& context) override {
    if (teacher_ != nullptr) teacher_->begin(context);
  }
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    if (point.options.size() < 2) return best_of(scores);
    return run_.ask(agent_, *scorer_, point, teacher_);
  }
  void passed_over(const QueueEntry& entry) override {
    if (teacher_ != nullptr) teacher_->passed_over(entry);
  }

 private:
  DecisionRun& run_;
  AgentId agent_;
  Teacher* teacher_;
  const MarlScorer* scorer_ = nullptr;
};

DecisionRun::DecisionRun(Topology topology, std::shared_ptr<const Trace> trace, SimOptions sim)
    : topology_(std::move(topology)),
      trace_(std::move(trace)),
      sim_(std::move(sim)),
      fiber_([this] { run(); }) {}

Result<std::unique_ptr<DecisionRun>> DecisionRun::make(Topology topology,
                                                       std::shared_ptr<const Trace> trace,
                                                       SimOptions sim,
                                                       const PolicyRegistry& policies,
                                                       const std::string& teacher) {
  std::unique_ptr<DecisionRun> run(
      new DecisionRun(std::move(topology), std::move(trace), std::move(sim)));
  if (Status ready = run->prepare(policies, teacher); !ready.ok()) return ready.error();
  return run;
}

DecisionRun::~DecisionRun() {
  if (!fiber_.begun() || fiber_.ended()) return;
  abandoned_ = true;
  while (fiber_.resume()) {
  }
}

Status DecisionRun::prepare(const PolicyRegistry& policies, const std::string& teacher) {
  for (std::uint32_t i = 0; i < sim_.agents; ++i) {
    Teacher* his = nullptr;
    if (!teacher.empty()) {
      auto system = policies.make_placement(teacher);
      if (!system) return {system.error().code, "teacher: " + system.error().message};
      teachers_.push_back(std::make_unique<Teacher>(std::move(system.value().scorer)));
      his = teachers_.back().get();
    }
    askers_.push_back(std::make_unique<Asking>(*this, AgentId{i}, his));
  }
  registry_.add(learned_marl().facts, [](OptionReader&) -> Result<std::unique_ptr<Policy>> {
    return make_policy(nullptr);
  });
  sim_.policy = kName;
  sim_.wrap_policy = [this](AgentId agent, std::unique_ptr<Policy>, const auto&) {
    return make_policy(askers_[agent.value].get());
  };
  sim_.progress = [this](std::uint64_t, std::uint64_t) { stop_here(State::pause); };
  auto world = World::make(topology_, *trace_, registry_, sim_, false);
  if (!world) return world.error();
  world_ = std::move(world).value();
  return done();
}

std::unique_ptr<Policy> DecisionRun::make_policy(Asking* asking) {
  auto scorer = std::make_unique<MarlScorer>(MarlNet::make(no_preference()).value());
  if (asking != nullptr) asking->attach(*scorer);
  const PlacementOrder order = scorer->order();
  return std::make_unique<PlacementPolicy>(
      PlacementSystem{learned_marl().facts, {}, order, std::move(scorer)}, asking);
}

void DecisionRun::run() {
  try {
    for (;;) {
      const Result<bool> more = world_->step();
      count();
      if (!more) failed_ = more.error();
      if (!more || !more.value()) break;
    }
    if (!failed_) result_ = world_->result();
  } catch (const Abandoned&) {
  }
}

/// Jobs in the system, up to the event that has just been taken.
void DecisionRun::count() {
  const Instant now = world_->now();
  const std::uint64_t over = world_->users().counts().over();
  const double now_s = seconds_of(now);
  job_s_ += static_cast<double>(jobs_now()) * (now_s - counted_to_s_);
  counted_to_s_ = now_s;
  while (came_ < trace_->jobs.size() && Instant{trace_->jobs[came_].submit} <= now) ++came_;
  over_ = over;
}

Result<DecisionRun::State> DecisionRun::advance() {
  STARLING_CHECK(state_ != State::decision || answer_);
  STARLING_CHECK(state_ != State::over);
  if (!fiber_.resume()) state_ = State::over;
  if (failed_) return *failed_;
  return state_;
}

void DecisionRun::stop_here(State why) {
  state_ = why;
  if (!abandoned_) fiber_.suspend();
  if (abandoned_) throw Abandoned{};
}

std::size_t DecisionRun::ask(AgentId agent, const MarlScorer& scorer, const DecisionPoint& point,
                             Teacher* teacher) {
  ++decisions_;
  kinds_.clear();
  for (const PlacementOption& option : point.options) kinds_.push_back(option.kind);
  open_ = {agent, seconds_of(point.view.now), point.job.spec->id, kinds_, scorer.rows(), {}};
  if (teacher != nullptr) open_.taught = teacher->would_take(point);
  answer_.reset();
  stop_here(State::decision);
  state_ = State::pause;
  return *answer_;
}

const OpenDecision& DecisionRun::open() const {
  STARLING_CHECK(state_ == State::decision);
  return open_;
}

void DecisionRun::answer(std::size_t option) {
  STARLING_CHECK(state_ == State::decision && option < open_.kinds.size());
  answer_ = option;
}

double DecisionRun::now_s() const { return seconds_of(world_->now()); }

double DecisionRun::job_hours() const {
  return (job_s_ + static_cast<double>(jobs_now()) * (now_s() - counted_to_s_)) / 3600;
}

const RunResult& DecisionRun::result() const {
  STARLING_CHECK(result_.has_value());
  return *result_;
}

}  // namespace starling
