// SPDX-License-Identifier: Apache-2.0
#include "gnn/quick_lif.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "gnn/speed_memo.h"
#include "interference/profile.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "quick-lif",
                             .summary = "lif with a threshold, for roll-outs",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};
constexpr double kThreshold = 0.3;
constexpr double kForever = 1e30;
constexpr std::uint32_t kServersTried = 32;
constexpr double kNothing = 1e-9;  // less is rounding

std::uint64_t hash_of(const JobSpec& spec, const JobProfile& profile) {
  std::uint64_t hash = SpeedMemo::hash_of(profile) + mix64(spec.gpus_per_worker);
  for (const std::string& type : spec.gpu_types) {
    TraceHash text;
    text.add(type);
    hash = mix64(hash ^ text.value());
  }
  return hash;
}

}  // namespace

const PolicyFacts& QuickLif::facts() const noexcept { return kFacts; }

std::vector<Decision> QuickLif::decide(const View& view, const Trigger&, Rng&) {
  std::vector<Decision> out;
  residents_.sync(view);
  free_.sync(view.gpus);
  line_up(view);
  for (Waiting& turn : queue_) {
    Look& look = looks_[turn.look];
    const std::uint64_t version = residents_.version() + free_.version();
    if (look.refused == version) continue;
    const auto job = std::ranges::lower_bound(view.waiting, turn.order, {}, &JobView::order);
    turn.gone = job == view.waiting.end() || job->order != turn.order;  // it has started
    if (turn.gone || job->blocked) continue;
    auto placement = place(view, look);
    if (!placement) {
      look.refused = version;
      continue;
    }
    free_.take(*placement);
    residents_.add(*job, *placement, view.now);
    out.emplace_back(Start{job->spec->id, std::move(*placement)});
  }
  std::erase_if(queue_, [](const Waiting& turn) { return turn.gone; });
  return out;
}

// Those of View::waiting that are new: they come at its end.
void QuickLif::line_up(const View& view) {
  const std::uint64_t from = next_;
  for (auto job = view.waiting.rbegin(); job != view.waiting.rend() && job->order >= from; ++job) {
    next_ = std::max(next_, job->order + 1);
    Waiting turn;
    if (order_ == PlacementOrder::forecast)
      turn.area = std::max(0.0, seconds(job->spec->duration - job->served)) * job->spec->gpus();
    turn.order = job->order;
    turn.look = look_of(view, *job->spec);
    const auto before = [](const Waiting& a, const Waiting& b) {
      return std::pair(a.area, a.order) < std::pair(b.area, b.order);
    };
    queue_.insert(std::ranges::upper_bound(queue_, turn, before), turn);
  }
}

std::uint32_t QuickLif::look_of(const View& view, const JobSpec& spec) {
  JobProfile profile = profile_of(spec);
  profile.straggler_seed = 0;
  const std::uint64_t hash = hash_of(spec, profile);
  const auto [at, fresh] = look_ids_.emplace(hash, static_cast<std::uint32_t>(looks_.size()));
  if (!fresh) return at->second;
  Look& look = looks_.emplace_back();
  look.gpus = spec.gpus();
  look.worker = spec.gpus_per_worker;
  const auto allowed = [&](std::uint32_t kind) {
    const std::string& name = view.topology.gpu_types()[free_.type(kind).value].name;
    return spec.gpu_types.empty() ||
           std::find(spec.gpu_types.begin(), spec.gpu_types.end(), name) != spec.gpu_types.end();
  };
  for (std::uint32_t kind = free_.kinds() > 1 ? 1 : 0; kind < free_.kinds(); ++kind) {
    if (!allowed(kind)) continue;
    look.kinds.push_back(kind);
    look.alone = std::max(look.alone, pairs_.alone(profile, free_.type(kind)));
  }
  look.profile = std::move(profile);
  return at->second;
}

std::optional<Placement> QuickLif::place(const View& view, Look& look) {
  const bool picky = residents_.count() > 0;
  const double least = picky ? kThreshold * look.gpus * look.alone : 0;
  Place best{kForever, {}, Residents::kNone};
  try_free(view, look, least, best);
  if (best.slowdown > kNothing) {
    look.pairs.resize(residents_.groups().size(), nullptr);
    try_beside(look, least, best);
    if (look.gpus > 1) try_servers(view, look, least, best);
  }
  if (best.beside != Residents::kNone) return open_gpus(view, look, residents_.at(best.beside));
  return std::move(best.where);
}

void QuickLif::try_free(const View& view, const Look& look, double least, Place& best) {
  const auto on_kind = [&](std::uint32_t kind) {
    if (free_.free_count(kind) < look.gpus) return;
    auto placement = free_.tight(kind, look.gpus, look.worker);
    if (!placement) return;
    beside_.clear();
    slots_.clear();
    std::uint32_t last = ~0U;
    for (const GpuId gpu : *placement) {
      const std::uint32_t server = view.topology.server_of(gpu).value - residents_.servers().first;
      if (server == std::exchange(last, server)) continue;
      for (const std::uint32_t slot : residents_.on(server)) {
        if (std::find(slots_.begin(), slots_.end(), slot) != slots_.end()) continue;
        slots_.push_back(slot);
        beside_.push_back(residents_.at(slot).self);
      }
    }
    const double own = std::max(view.speed.speed(look.profile, *placement, beside_).relative, 1e-6);
    const double slowdown = 1 / own - 1;
    if (look.gpus * own < least || slowdown >= best.slowdown) return;
    best.slowdown = slowdown;
    best.where = std::move(placement);
  };
  for (const std::uint32_t kind : look.kinds) on_kind(kind);
  if (!best.where && look.kinds.size() > 1 && look.kinds.size() + 1 == free_.kinds()) on_kind(0);
}

const PairSpeeds::Pair& QuickLif::pair_of(Look& look, std::uint32_t group) {
  const PairSpeeds::Pair*& pair = look.pairs[group];
  if (pair == nullptr) {
    const Residents::Group& other = residents_.groups()[group];
    pair = &pairs_.pair(look.profile, residents_.profile(other.profile), other.type);
  }
  return *pair;
}

void QuickLif::try_beside(Look& look, double least, Place& best) {
  GpuId lowest{~0U};
  for (const std::uint32_t g : residents_.live_groups()) {
    const Residents::Group& group = residents_.groups()[g];
    if (group.open < look.gpus) continue;
    const PairSpeeds::Pair& pair = pair_of(look, g);
    if (!pair.fits || pair.gain < least || pair.slowdown > best.slowdown) continue;
    const auto& [gpu, slot] = *group.members.begin();
    if (pair.slowdown == best.slowdown && !(gpu < lowest)) continue;
    best.slowdown = pair.slowdown;
    best.beside = slot;
    lowest = gpu;
  }
}

// As Candidates: of the servers with the most free GPUs the one where the others lose least.
void QuickLif::try_servers(const View& view, Look& look, double least, Place& best) {
  for (const std::uint32_t kind : look.kinds) {
    if (look.gpus > free_.largest_server(kind)) continue;
    std::uint32_t tried = 0;
    bool found = false;
    for (std::uint32_t free = look.gpus; free-- > 0 && !found;) {
      const BitmapTree& servers = free_.servers_with(kind, free);
      for (std::uint32_t s = servers.next(0); s < servers.size() && tried < kServersTried;
           s = servers.next(s + 1)) {
        if (free + residents_.open_on(s) < look.gpus) continue;
        ++tried;
        found = join(view, look, s, least, best) || found;
      }
    }
  }
}

bool QuickLif::join(const View& view, Look& look, std::uint32_t server, double least, Place& best) {
  const ServerId id{residents_.servers().first + server};
  const IndexRange range = view.topology.server(id).gpus;
  joins_.clear();
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const GpuId gpu{i};
    if (free_.is_free(gpu)) {
      joins_.push_back({-1, gpu});
    } else if (residents_.open(view, gpu)) {
      const std::uint32_t slot = residents_.tenant(gpu);
      const PairSpeeds::Pair& pair = pair_of(look, residents_.at(slot).group);
      if (pair.fits) joins_.push_back({pair.slowdown, gpu, slot, &pair});
    }
  }
  if (joins_.size() < look.gpus) return false;
  std::sort(joins_.begin(), joins_.end(), [](const Join& a, const Join& b) {
    return a.slower != b.slower ? a.slower < b.slower : a.gpu < b.gpu;
  });
  joins_.resize(look.gpus);
  double own = 1, loss = 0, slower = 0;
  slots_.clear();
  for (const Join& one : joins_) {
    if (one.pair == nullptr || std::find(slots_.begin(), slots_.end(), one.slot) != slots_.end())
      continue;
    slots_.push_back(one.slot);
    own = std::min<double>(own, one.pair->own);
    loss += one.pair->loss;
    slower += one.pair->slower;
  }
  const double slowdown = 1 / own - 1 + slower;
  if (look.gpus * own - loss < least || slowdown >= best.slowdown) return true;
  best.slowdown = slowdown;
  best.beside = Residents::kNone;
  best.where.emplace();
  for (const Join& one : joins_) best.where->push_back(one.gpu);
  std::sort(best.where->begin(), best.where->end());
  return true;
}

std::optional<Placement> QuickLif::open_gpus(const View& view, const Look& look,
                                             const Resident& other) const {
  Placement open;
  std::size_t first = 0;  // of the present server
  for (const GpuId gpu : other.self.placement) {
    if (!residents_.open(view, gpu)) continue;
    if (!open.empty() && view.topology.server_of(open[first]) != view.topology.server_of(gpu)) {
      if (open.size() - first >= look.gpus) break;
      first = open.size();
    }
    open.push_back(gpu);
  }
  if (open.size() - first < look.gpus) first = 0;
  if (open.size() - first < look.gpus) return std::nullopt;
  const auto from = open.begin() + static_cast<std::ptrdiff_t>(first);
  return Placement(from, from + look.gpus);
}

}  // namespace starling
