#include <algorithm>
#include <map>

#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "consolidate",
    .summary = "one island, else one server, else one rack; tightest fit first",
    .family = Family::placement};

/// The tightest place that a gang can have now. fit=node waits rather than break a gang that fits a
/// server; fit=count then takes the fullest servers of the fewest racks.
class Consolidate final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }

  [[nodiscard]] std::optional<Placement> find_place(const View&, const Occupancy& gpus,
                                                    const JobSpec& job) const override {
    if (!job.gpu_types.empty()) return place(gpus, shape(), job, options().fit);
    const std::uint32_t count = job.gpus();
    if (count > gpus.free_count()) return std::nullopt;
    if (count <= gpus.largest_free_server()) {
      if (auto found = in_island(gpus, count)) return found;
      return within(gpus, *gpus.best_fit(count), count);
    }
    if (auto found = in_rack(gpus, count, job.gpus_per_worker)) return found;
    if (auto found = place_node(gpus, shape(), count, job.gpus_per_worker)) return found;
    return options().fit == Fit::count ? place_count(gpus, count) : std::nullopt;
  }

 private:
  /// Free GPUs of a server by island, lowest first.
  static std::map<std::uint32_t, Placement> islands(const Occupancy& gpus, ServerId server) {
    std::map<std::uint32_t, Placement> out;
    const IndexRange range = gpus.topology().server(server).gpus;
    for (std::uint32_t i = range.first; i < range.last; ++i) {
      if (gpus.is_free(GpuId{i})) out[gpus.topology().island_of(GpuId{i})].push_back(GpuId{i});
    }
    return out;
  }

  /// The island with the fewest free GPUs that still has `count`, anywhere.
  static std::optional<Placement> in_island(const Occupancy& gpus, std::uint32_t count) {
    std::optional<Placement> best;
    std::uint32_t best_server_free = 0;
    for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
      const std::uint32_t free = gpus.free_on(ServerId{s});
      if (free < count || gpus.topology().server(ServerId{s}).gpus_per_island < count) continue;
      if (best && best->size() == count && free >= best_server_free) continue;
      for (auto& [island, members] : islands(gpus, ServerId{s})) {
        if (members.size() < count) continue;
        const bool tighter = !best || members.size() < best->size() ||
                             (members.size() == best->size() && free < best_server_free);
        if (!tighter) continue;
        best = std::move(members);
        best_server_free = free;
      }
    }
    if (best) best->resize(count);
    return best;
  }

  /// On one server over the fewest islands: the fullest islands first.
  static Placement within(const Occupancy& gpus, ServerId server, std::uint32_t count) {
    std::vector<Placement> by_room;
    for (auto& [island, members] : islands(gpus, server)) by_room.push_back(std::move(members));
    std::stable_sort(by_room.begin(), by_room.end(),
                     [](const Placement& a, const Placement& b) { return a.size() > b.size(); });
    Placement out;
    for (const Placement& members : by_room) {
      const std::size_t part = std::min<std::size_t>(members.size(), count - out.size());
      out.insert(out.end(), members.begin(), members.begin() + static_cast<std::ptrdiff_t>(part));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// Wholly free servers of one rack: the rack with the fewest that has enough.
  [[nodiscard]] std::optional<Placement> in_rack(const Occupancy& gpus, std::uint32_t count,
                                                 std::uint32_t gpus_per_worker) const {
    const std::uint32_t size = shape().server;
    if (size == 0 || count % size != 0 || (gpus_per_worker > 1 && size % gpus_per_worker != 0)) {
      return std::nullopt;
    }
    std::map<std::uint32_t, std::vector<ServerId>> racks;
    for (const ServerId server : gpus.whole_free_servers(size, gpus.servers().size())) {
      racks[gpus.topology().rack_of(server)].push_back(server);
    }
    const std::vector<ServerId>* best = nullptr;
    for (const auto& [rack, servers] : racks) {
      if (servers.size() < count / size || (best != nullptr && servers.size() >= best->size()))
        continue;
      best = &servers;
    }
    if (best == nullptr) return std::nullopt;
    Placement out;
    for (std::uint32_t i = 0; i < count / size; ++i) {
      const auto part = gpus.free_gpus((*best)[i], size);
      out.insert(out.end(), part.begin(), part.end());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

}  // namespace

void add_consolidate(PolicyRegistry& registry) {
  add_queue_policy<Consolidate>(registry, kFacts, QueueDefault::skip);
}

}  // namespace starling
