#include <algorithm>

#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "load-balance",
                             .summary = "the emptiest partition, there the emptiest server",
                             .family = Family::placement};

/// fit=node keeps a gang on the emptiest server; fit=count deals its workers one by one, each to
/// the server that is emptiest then.
class LoadBalance final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }

  void before_starts(const View& view, std::vector<Decision>& out) override {
    cooperation_.forward_to_emptier(view, index_, taken_, out);
  }

  [[nodiscard]] std::optional<Placement> find_place(const View&, const Occupancy& gpus,
                                                    const JobSpec& job) const override {
    if (!job.gpu_types.empty()) return place(gpus, shape(), job, options().fit);
    if (options().fit == Fit::count) return deal(gpus, job);
    const std::uint32_t most = gpus.largest_free_server();
    if (job.gpus() > most) return place_node(gpus, shape(), job.gpus(), job.gpus_per_worker);
    return gpus.free_gpus(*gpus.best_fit(most), job.gpus());
  }

 private:
  static std::optional<Placement> deal(const Occupancy& gpus, const JobSpec& job) {
    if (job.gpus() > gpus.free_count()) return std::nullopt;
    struct Server {
      std::uint32_t free, index;
      bool operator<(const Server& o) const {
        return free != o.free ? free < o.free : index > o.index;
      }
    };
    std::vector<Server> heap;
    for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
      if (const std::uint32_t free = gpus.free_on(ServerId{i}); free > 0) heap.push_back({free, i});
    }
    std::make_heap(heap.begin(), heap.end());
    std::vector<std::uint32_t> taken(gpus.servers().size(), 0);
    const bool whole_workers = heap.front().free >= job.gpus_per_worker;
    const std::uint32_t piece = whole_workers ? std::max(job.gpus_per_worker, 1U) : 1;
    for (std::uint32_t left = job.gpus(); left > 0; left -= piece) {
      if (heap.empty() || heap.front().free < piece) return place_count(gpus, job.gpus());
      std::pop_heap(heap.begin(), heap.end());
      Server& server = heap.back();
      taken[server.index - gpus.servers().first] += piece;
      server.free -= piece;
      if (server.free == 0) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end());
      }
    }
    Placement out;
    for (std::uint32_t i = 0; i < taken.size(); ++i) {
      if (taken[i] == 0) continue;
      const auto part = gpus.free_gpus(ServerId{gpus.servers().first + i}, taken[i]);
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }
};

}  // namespace

void add_load_balance(PolicyRegistry& registry) {
  add_queue_policy<LoadBalance>(registry, kFacts, QueueDefault::skip);
}

}  // namespace starling
