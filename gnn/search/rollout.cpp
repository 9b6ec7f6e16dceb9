// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/rollout.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace starling {
namespace {

constexpr double kLeastRate = 1e-6;
constexpr double kForever = std::numeric_limits<double>::infinity();

/// Before its speed is known, with the processes starting first.
WorkProgress work_of(const RolloutStart::Job& given, Instant now) {
  return {from_seconds(given.work_s), later(now, from_seconds(given.startup_s)), 0};
}

}  // namespace

FirstDecision first_decision(const DecisionPoint& point, std::size_t option) {
  const Candidate* where = point.options[option].place;
  return {point.job.spec->id, where == nullptr ? std::nullopt : std::optional(where->placement)};
}

RolloutResult Rollout::run(const RolloutStart& start, std::span<const FirstDecision> first,
                           Policy& policy, const RolloutLimits& limits) {
  begin(start);
  if (!force(first)) return {kForever, events_, false};
  decide(policy, TriggerKind::arrival);
  release(first);
  const Instant stop = later(start.now(), limits.horizon);
  double cost = 0;
  while (true) {
    const auto here = static_cast<double>(waiting_.size() + running_.size());
    const bool last = here == 0 && next_arrival_ == start.jobs().size();
    if (last) return {cost, events_, true};
    const Instant then = next();
    if (then == kNever) return {cost, events_, false};
    if (then > stop || events_ >= limits.events) {
      const Instant until = then > stop ? stop : now_;
      cost += here * seconds(until - now_);
      now_ = until;
      cost += rest_s();
      return {cost > limits.cost_s ? kForever : cost, events_, false};
    }
    cost += here * seconds(then - now_);
    if (cost > limits.cost_s) return {kForever, events_, false};
    now_ = then;
    const std::uint64_t before = events_;
    depart();
    const TriggerKind kind = events_ > before ? TriggerKind::departure : TriggerKind::arrival;
    arrive();
    decide(policy, kind);
  }
}

void Rollout::begin(const RolloutStart& start) {
  start_ = &start;
  now_ = start.now();
  gpus_ = start.gpus();
  rng_ = Rng(0);
  events_ = 0;
  ends_.clear();
  const auto rows = static_cast<std::uint32_t>(start.jobs().size());
  jobs_.resize(std::max<std::size_t>(jobs_.size(), rows));
  ended_.assign(rows, kNever);
  met_.resize(std::max<std::size_t>(met_.size(), rows), 0);
  on_server_.resize(std::max<std::size_t>(on_server_.size(), start.gpus().servers().size()));
  for (auto& rows_there : on_server_) rows_there.clear();
  waiting_.clear();
  waiting_rows_.clear();
  running_.clear();
  running_rows_.clear();
  for (std::uint32_t row = 0; row < start.waiting(); ++row) {
    waiting_.push_back(start.view_of(row));
    waiting_rows_.push_back(row);
  }
  for (std::uint32_t row = start.waiting(); row < start.present(); ++row) {
    const RolloutStart::Job& given = start.jobs()[row];
    running_.push_back(start.view_of(row));
    running_rows_.push_back(row);
    Running& job = jobs_[row];
    job.work = work_of(given, now_);
    job.started = now_;
    job.served = given.served;
    job.gpus = given.placement;
    job.servers = given.servers;
    for (const std::uint32_t server : job.servers) on_server_[server].push_back(row);
  }
  for (const std::uint32_t row : running_rows_) rerate(row);
  next_arrival_ = start.present();
}

bool Rollout::force(std::span<const FirstDecision> first) {
  for (const FirstDecision& decision : first) {
    if (decision.where) {
      if (!start_job(decision.job, *decision.where)) return false;
      continue;
    }
    const auto job = std::find_if(waiting_.begin(), waiting_.end(), [&](const JobView& waits) {
      return waits.spec->id == decision.job;
    });
    if (job == waiting_.end()) return false;
    job->blocked = true;
  }
  return true;
}

void Rollout::release(std::span<const FirstDecision> first) {
  if (first.empty()) return;
  for (JobView& job : waiting_) job.blocked = false;
}

Instant Rollout::next() {
  while (!ends_.empty() && ends_.front().version != jobs_[ends_.front().row].version) {
    std::pop_heap(ends_.begin(), ends_.end());
    ends_.pop_back();
  }
  Instant then = ends_.empty() ? kNever : ends_.front().at;
  if (next_arrival_ < start_->jobs().size()) {
    then = std::min(then, start_->jobs()[next_arrival_].submitted);
  }
  return then;
}

void Rollout::depart() {
  while (!ends_.empty() && ends_.front().at <= now_) {
    const End end = ends_.front();
    std::pop_heap(ends_.begin(), ends_.end());
    ends_.pop_back();
    Running& job = jobs_[end.row];
    if (end.version != job.version) continue;
    ++events_;
    ++job.version;
    ended_[end.row] = now_;
    const auto at = std::find(running_rows_.begin(), running_rows_.end(), end.row);
    STARLING_CHECK(at != running_rows_.end());
    running_.erase(running_.begin() + (at - running_rows_.begin()));
    running_rows_.erase(at);
    // A gang over partitions that is being stopped may have let go here already, and still be seen.
    std::erase_if(job.gpus, [this](GpuId gpu) {
      return !gpus_->gpus().contains(gpu.value) || gpus_->tenants(gpu) == 0;
    });
    gpus_->give_back(job.gpus);
    for (const std::uint32_t server : job.servers) std::erase(on_server_[server], end.row);
    settle(end.row);
  }
}

void Rollout::arrive() {
  while (next_arrival_ < start_->jobs().size() && start_->jobs()[next_arrival_].submitted <= now_) {
    ++events_;
    waiting_.push_back(start_->view_of(next_arrival_));
    waiting_rows_.push_back(next_arrival_++);
  }
}

void Rollout::decide(Policy& policy, TriggerKind kind) {
  if (waiting_.empty() && running_.empty()) return;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Running& job = jobs_[running_rows_[i]];
    running_[i].served = job.served + (now_ - job.started);
  }
  const View view{gpus_->topology(), *gpus_, waiting_,    running_, {},
                  start_->asked(),   now_,   start_->me()};
  for (const Decision& decision : policy.decide(view, {kind}, rng_)) {
    if (const auto* start = std::get_if<Start>(&decision)) {
      (void)start_job(start->job, start->placement);
    }
  }
}

bool Rollout::start_job(JobId id, const Placement& placement) {
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                  [id](const JobView& job) { return job.spec->id == id; });
  if (waits == waiting_.end() || waits->blocked) return false;
  const auto has_room = [this](GpuId gpu) {
    return gpus_->gpus().contains(gpu.value) && gpus_->has_room(gpu);
  };
  if (placement.size() != waits->spec->gpus() ||
      !std::is_sorted(placement.begin(), placement.end(), std::less_equal<>()) ||
      !std::all_of(placement.begin(), placement.end(), has_room)) {
    return false;
  }
  const auto at = waits - waiting_.begin();
  const std::uint32_t row = waiting_rows_[static_cast<std::size_t>(at)];
  running_.push_back(std::move(*waits));
  running_.back().placement = placement;
  running_rows_.push_back(row);
  waiting_.erase(waits);
  waiting_rows_.erase(waiting_rows_.begin() + at);
  occupy(row, placement);
  return true;
}

void Rollout::occupy(std::uint32_t row, const Placement& placement) {
  ++events_;
  const RolloutStart::Job& given = start_->jobs()[row];
  Running& job = jobs_[row];
  job.work = work_of(given, now_);
  job.started = now_;
  job.served = given.served;
  job.gpus = placement;
  start_->servers_of(placement, job.servers);
  gpus_->take(placement);
  for (const std::uint32_t server : job.servers) on_server_[server].push_back(row);
  rerate(row);
  settle(row);
}

// What shares a server with it has another speed now.
void Rollout::settle(std::uint32_t row) {
  touched_ = beside(row);
  for (const std::uint32_t other : touched_) rerate(other);
}

const std::vector<std::uint32_t>& Rollout::beside(std::uint32_t row) {
  beside_.clear();
  met_[row] = ++question_;
  for (const std::uint32_t server : jobs_[row].servers) {
    for (const std::uint32_t other : on_server_[server]) {
      if (std::exchange(met_[other], question_) != question_) beside_.push_back(other);
    }
  }
  return beside_;
}

double Rollout::rate(std::uint32_t row) {
  const std::vector<std::uint32_t>& others = beside(row);
  const RolloutStart::Job& given = start_->jobs()[row];
  const auto scaled = [&given](const Speed& speed) {
    return std::max(speed.relative * given.scaling, kLeastRate);
  };
  if (const SpeedMemo* memo = start_->memo()) {
    whos_.clear();
    for (const std::uint32_t other : others) {
      const RolloutStart::Job& its = start_->jobs()[other];
      whos_.push_back({&its.profile, its.hash, &jobs_[other].gpus});
    }
    return scaled(memo->ask({&given.profile, given.hash, &jobs_[row].gpus}, whos_));
  }
  while (neighbours_.size() <= others.size()) neighbours_.emplace_back(neighbours_.size());
  Neighbours& neighbours = neighbours_[others.size()];
  for (std::size_t i = 0; i < others.size(); ++i) {
    neighbours[i].job = start_->jobs()[others[i]].profile;
    neighbours[i].placement = jobs_[others[i]].gpus;
  }
  return scaled(start_->world().speed(given.profile, jobs_[row].gpus, neighbours));
}

void Rollout::rerate(std::uint32_t row) {
  Running& job = jobs_[row];
  const double after = rate(row);
  if (after == job.work.rate()) return;
  job.work.set_rate(now_, after);
  ends_.push_back({job.work.end(), row, ++job.version});
  std::push_heap(ends_.begin(), ends_.end());
}

double Rollout::rest_s() const {
  double sum = 0;
  double ahead = 0;  // GPU-seconds
  for (const std::uint32_t row : running_rows_) {
    const Running& job = jobs_[row];
    const double takes =
        seconds(job.work.counted_to() - now_) + seconds(job.work.left()) / job.work.rate();
    sum += takes;
    ahead += takes * static_cast<double>(job.gpus.size());
  }
  const double gpus = std::max(gpus_->gpus().size(), 1U);
  const auto add = [&](std::uint32_t row) {
    const RolloutStart::Job& job = start_->jobs()[row];
    sum += ahead / gpus + job.work_s;
    ahead += job.work_s * job.spec.gpus();
  };
  for (const std::uint32_t row : waiting_rows_) add(row);
  return sum;
}

}  // namespace starling
