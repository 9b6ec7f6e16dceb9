// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic_progress.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "interference/profile.h"

namespace starling {
namespace {

constexpr double kLeastS = 1;
constexpr double kUnknownLeastS = 60;
constexpr double kOutlivedPart = 0.05;
constexpr std::size_t kWords = 14;  // kept of a job, but for its GPUs

}  // namespace

std::size_t ElasticProgress::bytes_of(const Known& known) {
  return 8 * (kWords + known.placement.size());
}

/// A new life of the home knows when a job began to run, but for what earlier attempts did at
/// another size: if it runs where it ran, it has done so ever since.
void ElasticProgress::anchor(Known& known, const JobView& job, Instant now) {
  known.restored = false;
  if (job.placement.empty() || known.placement != job.placement) return;
  // It may have been seen by a clock that was ahead.
  known.before += job.served - (known.served + (now - std::min(known.at, now)));
}

/// What it does from here on, with that job on the same GPUs; null: none.
void ElasticProgress::begin(Known& known, const View& view, const JobView& job,
                            const JobView* beside) {
  known.before = job.served;
  known.placement = job.placement;
  known.allocation = job.allocation;
  known.beside = beside != nullptr ? std::optional(beside->spec->id) : std::nullopt;
  known.rate = 1;
  if (job.placement.empty()) return;
  const auto profile_at = [](const JobView& of) {
    return profile_of(*of.spec, static_cast<std::uint32_t>(of.placement.size()));
  };
  Neighbours others;
  if (beside != nullptr) others.push_back({profile_at(*beside), beside->placement});
  known.rate = progress_rate(view.speed, profile_at(job), job.placement, others, job.allocation);
}

void ElasticProgress::see(const View& view, const JobView& job, const JobView* beside) {
  Known& known = known_.see(job.spec->id).value;
  if (known.restored) anchor(known, job, view.now);
  const bool moved = known.placement != job.placement || known.allocation != job.allocation;
  if (moved) ++version_;
  if (job.placement.empty() || moved || job.served < known.before) {
    known.before_s = seconds(job.served);
    begin(known, view, job, beside);
  } else if (known.beside != (beside != nullptr ? std::optional(beside->spec->id) : std::nullopt)) {
    known.before_s += known.rate * seconds(job.served - known.before);
    begin(known, view, job, beside);
  }
  known.done_s = known.before_s + known.rate * seconds(job.served - known.before);
  known.served = job.served;
  known.at = view.now;
}

void ElasticProgress::observe(const View& view) {
  known_.begin();
  const bool shares = view.gpus.jobs_per_gpu() > 1;
  if (shares) {
    on_.assign(view.topology.gpu_count(), {});
    for (const JobView& job : view.running) {
      if (job.placement.empty() || job.placement.front().value >= on_.size()) continue;
      auto& [first, second] = on_[job.placement.front().value];
      (first == nullptr ? first : second) = &job;
    }
  }
  const auto beside = [&](const JobView& job) -> const JobView* {
    if (!shares || job.placement.empty() || job.placement.front().value >= on_.size())
      return nullptr;
    const auto [first, second] = on_[job.placement.front().value];
    const JobView* other = first == &job ? second : first;
    return other != nullptr && other->placement == job.placement ? other : nullptr;
  };
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) see(view, job, beside(job));
  }
  version_ += known_.end([](JobId, const Known&) {});
}

void ElasticProgress::save(MemoryWriter& out, Instant origin, std::size_t most_bytes) const {
  std::vector<std::pair<double, JobId>> longest;
  std::size_t bytes = 8;
  known_.each([&](JobId job, const Known& known) {
    longest.emplace_back(known.done_s, job);
    bytes += bytes_of(known);
  });
  if (bytes > most_bytes || longest.size() > kMostJobs)
    std::ranges::sort(longest, std::ranges::greater{});
  std::size_t jobs = 0;
  for (bytes = 8; jobs < std::min(longest.size(), kMostJobs); ++jobs) {
    bytes += bytes_of(known_.at(longest[jobs].second));
    if (bytes > most_bytes) break;
  }
  out.word(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    const JobId job = longest[i].second;
    const Known& known = known_.at(job);
    out.job(job), out.span(known.before), out.span(known.served), out.instant(known.at, origin);
    for (const double number : {known.before_s, known.done_s, known.rate}) out.number(number);
    out.word(known.placement.size());
    for (const GpuId gpu : known.placement) out.word(gpu.value);
    const Allocation& how = known.allocation;
    for (const std::uint32_t word :
         {how.workers, how.servers, how.local_batch, how.accumulation, how.averaged ? 1U : 0U})
      out.word(word);
  }
}

void ElasticProgress::restore(MemoryReader& in, Instant origin) {
  constexpr double kLongest = 1e12, kFastest = 1e6;
  constexpr std::size_t kMostGpus = 1U << 20U;
  known_.clear();
  const auto small = [&] { return static_cast<std::uint32_t>(in.word()); };
  for (std::size_t jobs = in.count(kMostJobs, kWords); jobs > 0 && in.ok(); --jobs) {
    const JobId job = in.job();
    Known& known = known_.add(job);
    known.before = in.span(), known.served = in.span(), known.at = in.instant(origin);
    known.restored = true;
    known.before_s = in.number(0, kLongest);
    known.done_s = in.number(0, kLongest);
    known.rate = in.number(0, kFastest);
    known.placement.resize(in.count(kMostGpus, 1));
    for (GpuId& gpu : known.placement) gpu = GpuId{small()};
    known.allocation = {small(), small(), small(), small(), in.word() != 0};
  }
}

double ElasticProgress::done_s(JobId job) const { return known_.at(job).done_s; }

double ElasticProgress::left_s(const JobSpec& job) const {
  const double done = done_s(job.id);
  if (job.duration <= Duration::zero()) return std::max(done, kUnknownLeastS);
  return std::max({seconds(job.duration) - done, kOutlivedPart * done, kLeastS});
}

}  // namespace starling
