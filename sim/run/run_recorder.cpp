// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run_recorder.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr std::uint32_t kNew = ~0U;
constexpr double kFirstInterval = 1e-3, kLongestInterval = 1e9;

double at(Instant now) { return seconds(now.time_since_epoch()); }

}  // namespace

void RunRecorder::begins(const Topology& topology, std::vector<IndexRange> agents,
                         std::vector<IndexRange> executors) {
  *this = RunRecorder();
  recording_ = Recording{topology, std::move(agents), std::move(executors), {}, {}};
  recording_->frames_each_s = kFirstInterval;
}

Placement RunRecorder::first_numbers(const Placement& gpus) const {
  if (first_.empty()) return gpus;
  Placement all;
  for (const GpuId gpu : gpus) {
    if (gpu.value < first_.size() && first_[gpu.value] != kNew) all.emplace_back(first_[gpu.value]);
  }
  return all;
}

std::uint32_t RunRecorder::job_of(JobId job) {
  const auto [found, fresh] = jobs_.emplace(job, static_cast<std::uint32_t>(jobs_.size()));
  if (fresh) tried_.push_back(0);
  return found->second;
}

void RunRecorder::starts(Instant now, const AttemptId& attempt, const Placement& given) {
  const Placement gpus = first_numbers(given);
  if (gpus.empty()) return;
  const std::uint32_t job = job_of(attempt.job);
  const auto [number, fresh] = attempts_.emplace(attempt, tried_[job]);
  if (fresh) ++tried_[job];
  open_[{attempt, gpus.front()}] = recording_->shares.size();
  recording_->shares.push_back({job, number->second, at(now), -1, gpus, false});
}

void RunRecorder::ends(Instant now, const AttemptId& attempt, const Placement& given,
                       bool stopped) {
  const Placement gpus = first_numbers(given);
  const auto open = gpus.empty() ? open_.end() : open_.find({attempt, gpus.front()});
  if (open == open_.end()) return;
  Recording::Share& share = recording_->shares[open->second];
  share.until_s = at(now);
  share.stopped = stopped;
  open_.erase(open);
}

void RunRecorder::frame(Instant now, std::uint32_t from, std::uint32_t to, std::size_t kind) {
  std::vector<Recording::Frames>& frames = recording_->frames;
  const double each = recording_->frames_each_s, begin = std::floor(at(now) / each) * each;
  if (!frames.empty() && frames.back().at_s != begin) interval_.clear();
  const auto key = std::tuple(from, to, static_cast<std::uint32_t>(kind));
  // More kinds and pairs of agents than entries: no interval is long enough for the rest.
  if (frames.size() >= kFramesMax && each >= kLongestInterval && !interval_.contains(key)) return;
  const auto [found, fresh] = interval_.emplace(key, frames.size());
  if (!fresh) {
    ++frames[found->second].count;
    return;
  }
  frames.push_back({begin, from, to, static_cast<std::uint32_t>(kind), 1});
  if (frames.size() > kFramesMax) thin();
}

/// Until there is room for half as many again.
void RunRecorder::thin() {
  std::vector<Recording::Frames>& frames = recording_->frames;
  while (3 * frames.size() > 2 * kFramesMax && recording_->frames_each_s < kLongestInterval) {
    double& each = recording_->frames_each_s;
    each *= 2;
    for (Recording::Frames& f : frames) f.at_s = std::floor(f.at_s / each) * each;
    const auto key = [](const Recording::Frames& f) {
      return std::tuple(f.at_s, f.from, f.to, f.kind);
    };
    std::sort(frames.begin(), frames.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<Recording::Frames> merged;
    for (const Recording::Frames& f : frames) {
      if (!merged.empty() && key(merged.back()) == key(f)) {
        merged.back().count += f.count;
      } else {
        merged.push_back(f);
      }
    }
    frames = std::move(merged);
  }
  if (frames.size() > kFramesMax) frames.erase(frames.begin() + kFramesMax, frames.end());
  interval_.clear();
  for (std::size_t i = frames.size(); i-- > 0 && frames[i].at_s == frames.back().at_s;)
    interval_[{frames[i].from, frames[i].to, frames[i].kind}] = i;
}

void RunRecorder::down(Instant now, bool agent, std::uint32_t number) {
  if (!down_.emplace(std::pair(agent, number), recording_->outages.size()).second) return;
  recording_->outages.push_back({agent, number, at(now), -1});
}

void RunRecorder::up(Instant now, bool agent, std::uint32_t number) {
  const auto found = down_.find({agent, number});
  if (found == down_.end()) return;
  recording_->outages[found->second].until_s = at(now);
  down_.erase(found);
}

void RunRecorder::sick(Instant now, GpuId given, bool is_sick) {
  const Placement gpus = first_numbers({given});
  if (gpus.empty()) return;
  if (is_sick) {
    if (sick_.emplace(gpus.front(), recording_->sick.size()).second)
      recording_->sick.push_back({gpus.front(), at(now), -1});
    return;
  }
  const auto found = sick_.find(gpus.front());
  if (found == sick_.end()) return;
  recording_->sick[found->second].until_s = at(now);
  sick_.erase(found);
}

void RunRecorder::note(Instant now, std::string what) {
  recording_->notes.push_back({at(now), std::move(what)});
}

void RunRecorder::why(Instant now, JobId job, std::vector<std::string> lines) {
  if (lines.empty()) return;
  const std::uint32_t index = job_of(job);
  const auto last = last_why_.find(index);
  if (last != last_why_.end() && recording_->whys[last->second].lines == lines) return;
  for (const std::string& line : lines) why_bytes_ += line.size();
  if (why_bytes_ > kWhyBytes) {
    ++recording_->whys_left_out;
    return;
  }
  last_why_[index] = recording_->whys.size();
  recording_->whys.push_back({at(now), index, std::move(lines)});
}

void RunRecorder::link_loads(Instant now, const std::vector<double>& parts) {
  percent_.resize(parts.size(), 0);
  for (std::uint32_t link = 0; link < parts.size(); ++link) {
    const auto percent = static_cast<std::uint32_t>(std::lround(100 * parts[link]));
    if (percent == percent_[link]) continue;
    percent_[link] = percent;
    recording_->loads.push_back({at(now), link, percent});
  }
  while (recording_->loads.size() > kLoadsMax && recording_->loads_each_s < kLongestInterval)
    thin_loads();
}

/// Of each interval, which become twice as long, the last load of each link.
void RunRecorder::thin_loads() {
  double& each = recording_->loads_each_s;
  each = each > 0 ? 2 * each : 1;
  std::vector<Recording::LinkLoad> kept;
  std::map<std::uint32_t, std::size_t> of;  // of the present interval
  double begin = -1;
  for (Recording::LinkLoad load : recording_->loads) {
    load.at_s = std::floor(load.at_s / each) * each;
    if (load.at_s != begin) of.clear();
    begin = load.at_s;
    const auto [found, fresh] = of.emplace(load.link, kept.size());
    fresh ? kept.push_back(load) : void(kept[found->second] = load);
  }
  recording_->loads = std::move(kept);
}

void RunRecorder::renumber(Instant now, const Renumbering& numbers) {
  std::vector<std::uint32_t> next;
  for (std::uint32_t old = 0; old < numbers.gpus.size(); ++old) {
    const std::uint32_t gpu = numbers.gpus[old];
    if (gpu == Renumbering::kGone) continue;
    if (next.size() <= gpu) next.resize(gpu + 1, kNew);
    next[gpu] = first_.empty() ? old : old < first_.size() ? first_[old] : kNew;
  }
  first_ = std::move(next);
  note(now, "servers changed");
}

void RunRecorder::over(Instant now, const RunResult& run) {
  Recording& all = *recording_;
  all.end_s = at(now);
  all.policy = run.policy;
  all.workload = run.workload;
  all.seed = run.seed;
  for (const JobRow& row : run.jobs) static_cast<void>(job_of(row.job));
  all.jobs.resize(jobs_.size());
  for (const auto& [id, index] : jobs_) all.jobs[index].name = to_string(id);
  for (const JobRow& row : run.jobs)
    all.jobs[jobs_.at(row.job)] = {row.name, row.model, row.submit_s, row.finish_s,  row.state,
                                   row.gpus, row.agent, row.forwards, row.duration_s};
  // A job beyond the trace is there from its first start on.
  for (const Recording::Share& share : all.shares) {
    Recording::Job& job = all.jobs[share.job];
    if (job.gpus == 0) job.gpus = static_cast<std::uint32_t>(share.gpus.size());
    if (job.state == JobPhase::unknown && job.submit_s == 0) job.submit_s = share.from_s;
  }
}

}  // namespace starling
