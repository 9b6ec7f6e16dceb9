// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/pair_rates.h"

#include "base/check.h"
#include "interference/memory.h"
#include "interference/profile.h"
#include "policies/rank/rank_curves.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Of what users write in a job there is no end.
constexpr std::size_t kMostKinds = 1024, kMostPairs = 1U << 18U;

}  // namespace

void PairRates::refresh(const SpeedModel& speed) {
  if (model_ == speed.version() && kinds_.size() < kMostKinds && known_.size() < kMostPairs) return;
  model_ = speed.version();
  kinds_.clear(), specs_.clear(), known_.clear();
  ++version_;
}

/// Without parameter servers neither the size asked for nor any detail of a run makes a difference.
std::uint32_t PairRates::kind_of(const JobSpec& job) {
  const bool servers = servers_at(job, 1) > 0;
  const Kind kind(job.model, servers ? job.workers : 0, job.gpus_per_worker, job.cpus_per_worker,
                  servers ? job.run : RunDetails{});
  const auto [at, fresh] = kinds_.try_emplace(kind, static_cast<std::uint32_t>(specs_.size()));
  if (fresh) specs_.push_back(job);
  return at->second;
}

PairRate PairRates::ask(const Where& where, const Asked& asked) const {
  const JobSpec& one = specs_[asked.one];
  const JobSpec& other = specs_[asked.other];
  if (one.gpus_per_worker != other.gpus_per_worker) return {};
  JobSpec anywhere = one;
  anywhere.gpu_types.clear();
  const auto place =
      place_on_type(where.empty, where.shape, anywhere, asked.gpus / one.gpus_per_worker,
                    GpuTypeId{static_cast<std::uint16_t>(asked.type)});
  if (!place) return {};
  const JobProfile a = profile_of(one, asked.gpus), b = profile_of(other, asked.gpus);
  if (!fits_together(a, b, where.empty.topology(), place->front())) return {};
  const auto part = [&](const JobProfile& job, const JobProfile& beside) {
    const double alone = where.speed.speed(job, *place, {}).relative;
    return alone > 0 ? where.speed.speed(job, *place, {{beside, *place}}).relative / alone : 0;
  };
  const PairRate rate{part(a, b), part(b, a)};
  return rate.one + rate.other >= kLeastSum ? rate : PairRate{};
}

PairRate PairRates::of(const Where& where, std::uint32_t one, std::uint32_t other,
                       std::uint32_t type, std::uint32_t gpus) {
  STARLING_CHECK(where.speed.version() == model_);
  const bool swapped = other < one;
  const Asked asked = swapped ? Asked{other, one, type, gpus} : Asked{one, other, type, gpus};
  auto at = known_.find(asked);
  if (at == known_.end()) at = known_.emplace(asked, ask(where, asked)).first;
  const PairRate& rate = at->second;
  return swapped ? PairRate{rate.other, rate.one} : rate;
}

}  // namespace starling
