// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic_progress.h"

#include <algorithm>

#include "interference/profile.h"

namespace starling {
namespace {

constexpr double kLeastS = 1;
constexpr double kUnknownLeastS = 60;
constexpr double kOutlivedPart = 0.05;

}  // namespace

void ElasticProgress::see(const View& view, const JobView& job) {
  Known& known = known_[job.spec->id];
  known.seen = true;
  if (job.placement.empty() || known.placement != job.placement ||
      known.allocation != job.allocation || job.served < known.before) {
    known.before = job.served;
    known.before_s = seconds(job.served);
    known.placement = job.placement;
    known.allocation = job.allocation;
    known.rate = 1;
    if (!job.placement.empty()) {
      const JobProfile profile =
          profile_of(*job.spec, static_cast<std::uint32_t>(job.placement.size()));
      known.rate = progress_rate(view.speed, profile, job.placement, {}, job.allocation);
    }
  }
  known.done_s = known.before_s + known.rate * seconds(job.served - known.before);
}

void ElasticProgress::observe(const View& view) {
  for (auto& [job, known] : known_) known.seen = false;
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) see(view, job);
  }
  std::erase_if(known_, [](const auto& entry) { return !entry.second.seen; });
}

double ElasticProgress::done_s(JobId job) const { return known_.at(job).done_s; }

double ElasticProgress::left_s(const JobSpec& job) const {
  const double done = done_s(job.id);
  if (job.duration <= Duration::zero()) return std::max(done, kUnknownLeastS);
  return std::max({seconds(job.duration) - done, kOutlivedPart * done, kLeastS});
}

}  // namespace starling
