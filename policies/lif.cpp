#include <algorithm>
#include <map>

#include "interference/profile.h"
#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "lif",
    .summary =
        "least interference first: where the job is predicted to run fastest; no GPU sharing",
    .family = Family::placement,
    .needs_running = true};

/// Least interference first: of three places for a gang - tightest, within one rack, spread over
/// the emptiest servers - the one where the speed model expects the highest speed beside what runs
/// there; ties to the tighter. If even that is below the threshold the job waits, as long as
/// anything runs here.
class Lif final : public QueuePolicy {
 public:
  Lif(const QueueOptions& options, double threshold)
      : QueuePolicy(options), threshold_(threshold) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }

  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override {
    by_server_.clear();
    for (const JobView& job : view.running) remember(view.topology, *job.spec, job.placement);
    const auto queue = index_.queue();
    failed_.assign(index_.kinds(), ~std::uint32_t{0});
    for (std::size_t i = 0; i < queue.size() && trial.free_count() > 0; ++i) {
      const QueueEntry& entry = queue[i];
      const bool hope = entry.gpus <= trial.free_count() && entry.gpus < failed_[entry.kind];
      if (taken_[i] || (!hope && !options().strict)) continue;
      const JobView& job = index_.job(entry);
      if (job.blocked) continue;
      bool room = false;
      auto placement = hope ? best_place(view, trial.gpus(), *job.spec, room) : std::nullopt;
      if (placement) {
        remember(view.topology, *job.spec, *placement);
        trial.take(*placement);
        out.emplace_back(Start{job.spec->id, std::move(*placement)});
        taken_[i] = true;
        continue;
      }
      if (!room) failed_[entry.kind] = std::min(failed_[entry.kind], entry.gpus);
      if (options().strict && entry.gpus <= view.topology.gpu_count()) return;
    }
  }

 private:
  void remember(const Topology& topology, const JobSpec& job, const Placement& placement) {
    ServerId last{~0U};
    for (const GpuId gpu : placement) {
      const ServerId server = topology.server_of(gpu);
      if (server != last) by_server_[server].push_back({profile_of(job), placement});
      last = server;
    }
  }

  [[nodiscard]] Neighbours beside(const Topology& topology, const Placement& placement) const {
    std::map<GpuId, const Neighbour*> found;  // by first GPU: a neighbour counts once
    for (const GpuId gpu : placement) {
      const auto there = by_server_.find(topology.server_of(gpu));
      if (there == by_server_.end()) continue;
      for (const Neighbour& n : there->second) found.emplace(n.placement.front(), &n);
    }
    Neighbours out;
    for (const auto& [gpu, neighbour] : found) out.push_back(*neighbour);
    return out;
  }

  /// Free GPUs of the rack that has the fewest and yet enough, from its fullest servers on.
  [[nodiscard]] static std::optional<Placement> in_rack(const Occupancy& gpus, const JobSpec& job) {
    std::map<std::uint32_t, std::uint32_t> free;
    const Topology& topology = gpus.topology();
    for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
      const ServerId server{i};
      if (allows(job, topology, server)) free[topology.rack_of(server)] += gpus.free_on(server);
    }
    std::optional<std::uint32_t> best;
    for (const auto& [rack, count] : free) {
      if (count >= job.gpus() && (!best || count < free.at(*best))) best = rack;
    }
    if (!best) return std::nullopt;
    return deal(
        gpus, job, [&](ServerId server) { return topology.rack_of(server) == *best; }, false);
  }

  /// Worker by worker onto the servers that `use` admits: one full server after another, or each
  /// to the one that is emptiest then.
  template <class Use>
  [[nodiscard]] static std::optional<Placement> deal(const Occupancy& gpus, const JobSpec& job,
                                                     const Use& use, bool spread) {
    struct Part {
      ServerId server;
      std::uint32_t free, taken = 0;
    };
    std::vector<Part> parts;
    for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
      const ServerId server{i};
      if (!allows(job, gpus.topology(), server) || !use(server)) continue;
      if (gpus.free_on(server) >= job.gpus_per_worker)
        parts.push_back({server, gpus.free_on(server)});
    }
    for (std::uint32_t w = 0; w < job.workers; ++w) {
      Part* best = nullptr;
      for (Part& part : parts) {
        if (part.free < job.gpus_per_worker) continue;
        if (best == nullptr || (spread ? part.free > best->free : part.taken > best->taken)) {
          best = &part;
        }
      }
      if (best == nullptr) return std::nullopt;
      best->free -= job.gpus_per_worker;
      best->taken += job.gpus_per_worker;
    }
    Placement out;
    for (const Part& part : parts) {
      if (part.taken == 0) continue;
      const auto some = gpus.free_gpus(part.server, part.taken);
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }

  [[nodiscard]] std::optional<Placement> best_place(const View& view, const Occupancy& gpus,
                                                    const JobSpec& job, bool& room) const {
    const auto tight = place(gpus, shape(), job, options().fit);
    room = tight.has_value();
    std::optional<Placement> best;
    std::int64_t best_speed = -1;
    for (const auto& candidate : {tight, in_rack(gpus, job),
                                  deal(
                                      gpus, job, [](ServerId) { return true; }, true)}) {
      if (!candidate) continue;
      const double speed =
          view.speed.speed(profile_of(job), *candidate, beside(view.topology, *candidate)).relative;
      // Compared as integers, so that two machines agree.
      const auto quantised = static_cast<std::int64_t>(speed * 1e6);
      if (quantised <= best_speed) continue;
      best_speed = quantised;
      best = candidate;
    }
    room = room || best.has_value();
    const bool waits = static_cast<double>(best_speed) < threshold_ * 1e6 && !by_server_.empty();
    if (waits) return std::nullopt;
    return best;
  }

  double threshold_;
  std::map<ServerId, Neighbours> by_server_;  // what runs there
};

}  // namespace

void add_lif(PolicyRegistry& registry) {
  registry.add(
      kFacts,
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(kFacts.name, given);
        const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
        const double threshold = reader.number("threshold", 0, 0, 1);
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(std::make_unique<Lif>(options, threshold));
      },
      "queue=skip|strict, fit=node|count, threshold=T (0: a job waits while no place gives it T of "
      "its best speed)");
}

}  // namespace starling
