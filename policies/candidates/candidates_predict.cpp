// SPDX-License-Identifier: Apache-2.0
// What the speed model says of a place: predicted once, kept while no job comes to its servers or
// leaves them.
#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "interference/memory.h"
#include "policies/candidates/candidates.h"

namespace starling {
namespace {

constexpr double kSlower = 1e-9;  // less is rounding

std::int64_t millionths(double x) { return std::llround(x * static_cast<double>(kGpu)); }

std::uint64_t hash_of(std::uint32_t look, CandidateKind kind, const Placement& placement) {
  std::uint64_t hash = mix64(std::uint64_t{look} << 8U | static_cast<std::uint64_t>(kind));
  for (const GpuId gpu : placement) hash = mix64(hash ^ gpu.value);
  return hash;
}

bool intersect(const Placement& a, const Placement& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    *i < *j ? (void)++i : (void)++j;
  }
  return false;
}

}  // namespace

std::int64_t Candidate::inflicted_loss() const {
  double sum = 0;
  for (const Loss& loss : losses) sum += loss.gpus * (loss.before - loss.after);
  return millionths(sum);
}

std::vector<std::uint32_t> Candidates::servers_of(const Placement& placement) const {
  std::vector<std::uint32_t> servers;
  const IndexRange range = memory_->residents_.servers();
  for (const GpuId gpu : placement) {
    const std::uint32_t server = view_->topology.server_of(gpu).value;
    if (!range.contains(server)) continue;
    if (servers.empty() || servers.back() != server - range.first) {
      servers.push_back(server - range.first);
    }
  }
  return servers;
}

void Candidates::collect(const std::vector<std::uint32_t>& servers, std::uint32_t but,
                         Neighbours& into, std::vector<std::uint32_t>* slots) const {
  into.clear();
  if (slots != nullptr) slots->clear();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (const std::uint32_t slot : memory_->residents_.on(servers[i])) {
      if (slot == but) continue;
      const Resident& other = memory_->residents_.at(slot);
      // A gang on several of them counts once, where it is met first.
      const bool met =
          i > 0 &&
          std::any_of(servers.begin(), servers.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](std::uint32_t s) {
                        return std::binary_search(other.servers.begin(), other.servers.end(), s);
                      });
      if (met) continue;
      into.push_back(other.self);
      if (slots != nullptr) slots->push_back(slot);
    }
  }
}

void Candidates::predict_anew(const PlacementRequest& request, Candidate& candidate) {
  const SpeedModel& model = view_->speed;
  const std::vector<std::uint32_t> servers = servers_of(candidate.placement);
  Neighbour self{memory_->residents_.profile(request.profile), candidate.placement};
  collect(servers, Residents::kNone, memory_->beside_, &memory_->slots_);
  candidate.losses.clear();
  const Speed own = model.speed(self.job, self.placement, memory_->beside_);
  candidate.own = std::max(own.relative, 1e-6);
  candidate.unsure = own.uncertainty;
  candidate.unshared = candidate.own;
  double gain = request.gpus * candidate.own;
  double slowdown = 1 / candidate.own - 1;
  bool shares = false;
  for (std::size_t i = 0; i < memory_->slots_.size(); ++i) {
    const Resident& other = memory_->residents_.at(memory_->slots_[i]);
    Candidate::Loss loss;
    loss.slot = memory_->slots_[i];
    loss.gpus = other.self.job.gpus;
    loss.before = memory_->residents_.speed(model, memory_->slots_[i]);
    const bool all_seen =
        std::includes(servers.begin(), servers.end(), other.servers.begin(), other.servers.end());
    Speed after;
    if (all_seen) {
      std::swap(memory_->beside_[i], self);
      after = model.speed(self.job, self.placement, memory_->beside_);
      std::swap(memory_->beside_[i], self);
    } else {
      collect(other.servers, memory_->slots_[i], memory_->theirs_, nullptr);
      memory_->theirs_.push_back(self);
      after = model.speed(other.self.job, other.self.placement, memory_->theirs_);
    }
    loss.after = std::max(after.relative, 1e-6);
    loss.unsure = after.uncertainty;
    loss.shares = candidate.shares() && intersect(other.self.placement, candidate.placement);
    shares = shares || loss.shares;
    if (loss.before - loss.after <= kSlower && !loss.shares) continue;
    gain -= loss.gpus * (loss.before - loss.after);
    slowdown += 1 / loss.after - 1 / loss.before;
    candidate.losses.push_back(loss);
  }
  if (shares) {
    memory_->theirs_.clear();
    for (const Neighbour& other : memory_->beside_) {
      if (!intersect(other.placement, candidate.placement)) memory_->theirs_.push_back(other);
    }
    candidate.unshared =
        std::max(model.speed(self.job, self.placement, memory_->theirs_).relative, 1e-6);
  }
  candidate.gain = millionths(gain);
  candidate.slowdown = millionths(slowdown);
}

const Candidate& Candidates::predict(const PlacementRequest& request, CandidateKind kind,
                                     Placement placement) {
  std::uint64_t version = 0;
  std::uint32_t last = ~0U;
  const IndexRange range = memory_->residents_.servers();
  for (const GpuId gpu : placement) {
    const std::uint32_t server = view_->topology.server_of(gpu).value;
    if (server == last || !range.contains(server)) continue;
    last = server;
    version = std::max(version, memory_->residents_.version(server - range.first));
  }
  CandidateMemory::Known& known = memory_->known_[hash_of(request.look, kind, placement)];
  if (known.version < version || known.candidate.placement != placement) {
    known.version = version;
    known.candidate.kind = kind;
    known.candidate.placement = std::move(placement);
    predict_anew(request, known.candidate);
  }
  return known.candidate;
}

const Candidates::Pair& Candidates::pair(const PlacementRequest& request, std::uint32_t group) {
  if (memory_->pairs_.size() <= request.profile) memory_->pairs_.resize(request.profile + 1);
  std::vector<Pair>& row = memory_->pairs_[request.profile];
  if (row.size() <= group) row.resize(memory_->residents_.groups().size());
  Pair& pair = row[group];
  if (pair.known) return pair;
  const SpeedModel& model = view_->speed;
  const Resident& other =
      memory_->residents_.at(memory_->residents_.groups()[group].members.begin()->second);
  auto placement = beside(request, other);
  if (!placement) return pair;  // here and now; the next time another may stand for the group
  Neighbour self{memory_->residents_.profile(request.profile), std::move(*placement)};
  self.job.gpus = static_cast<std::uint32_t>(self.placement.size());
  pair.known = true;
  pair.fits = fits_together(self.job, other.self.job, view_->topology, self.placement.front());
  if (!pair.fits) return pair;
  const auto speed = [&](const Neighbour& who, const Neighbours& beside) {
    return std::max(model.speed(who.job, who.placement, beside).relative, 1e-6);
  };
  pair.slowdown = millionths(1 / speed(self, {other.self}) - 1 + 1 / speed(other.self, {self}) -
                             1 / speed(other.self, {}));
  return pair;
}

double Candidates::alone(const PlacementRequest& request, const Occupancy& empty) {
  double best = 0;
  for (const std::uint32_t kind : kinds_or_all(*request.spec)) {
    best = std::max(best, alone(request, empty, kind));
  }
  return best;
}

double Candidates::alone(const PlacementRequest& request, const Occupancy& empty,
                         std::uint32_t kind) {
  if (memory_->alone_.size() <= request.look) memory_->alone_.resize(request.look + 1);
  std::vector<double>& by_kind = memory_->alone_[request.look];
  by_kind.resize(memory_->free_.kinds(), -1);
  double& best = by_kind[kind];
  if (best >= 0) return best;
  best = 0;
  memory_->empty_.sync(empty);
  const JobProfile& profile = memory_->residents_.profile(request.profile);
  for (const auto& placement :
       {memory_->empty_.tight(kind, request.gpus, request.gpus_per_worker),
        memory_->empty_.in_rack(kind, request.gpus, request.gpus_per_worker),
        memory_->empty_.spread(kind, request.gpus, request.gpus_per_worker)}) {
    if (placement) best = std::max(best, view_->speed.speed(profile, *placement, {}).relative);
  }
  return best;
}

}  // namespace starling
