#include <algorithm>
#include <vector>

#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "tetris",
    .summary = "what fits best into what is left of GPUs, CPUs and memory; no GPU sharing",
    .family = Family::placement,
    .needs_running = true};

/// Tetris (SIGCOMM'14): again and again the job and server whose demand and free capacity point the
/// same way (dot product, in parts of the server) start together; with durations=yes less work that
/// remains counts for a job. Only the first kWindow waiting jobs are looked at. A gang of several
/// servers has the alignment of its share of an empty server. Nothing is ever kept free, so a large
/// gang waits for as long as small jobs fit: that is its limit.
class Tetris final : public QueuePolicy {
 public:
  static constexpr std::size_t kWindow = 64;
  Tetris(const QueueOptions& options, bool durations)
      : QueuePolicy(options), facts_(kFacts), durations_(durations) {
    facts_.needs_durations = durations;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }

  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override {
    measure_use(view);
    std::vector<std::size_t> window;
    const auto queue = index_.queue();
    for (std::size_t i = 0; i < queue.size() && window.size() < kWindow; ++i) {
      if (!taken_[i] && !index_.job(queue[i]).blocked) window.push_back(i);
    }
    while (trial.free_count() > 0) {
      std::optional<Fitting> best = best_of(view, trial, window);
      if (!best) return;
      const JobView& job = index_.job(queue[best->entry]);
      use(view.topology, *job.spec, best->placement);
      trial.take(best->placement);
      out.emplace_back(Start{job.spec->id, std::move(best->placement)});
      taken_[best->entry] = true;
      std::erase(window, best->entry);
    }
  }

 private:
  struct Use {
    double cpus = 0, memory_gib = 0;
  };
  struct Fitting {
    std::size_t entry = 0;
    Placement placement;
    double alignment = 0;
    double left = 0;  // GPU-seconds
  };

  void measure_use(const View& view) {
    used_.assign(view.gpus.servers().size(), {});
    for (const JobView& job : view.running) use(view.topology, *job.spec, job.placement);
  }
  void use(const Topology& topology, const JobSpec& job, const Placement& placement) {
    for (const GpuId gpu : placement) {
      const std::uint32_t server = topology.server_of(gpu).value;
      if (server < empty().servers().first || server >= empty().servers().last) continue;
      Use& used = used_[server - empty().servers().first];
      used.cpus += job.cpus_per_worker / job.gpus_per_worker;
      used.memory_gib += job.memory_gib_per_worker / job.gpus_per_worker;
    }
  }

  /// Demand of `gpus` GPUs of the job along what is free of the server, in parts of the server.
  [[nodiscard]] double alignment(const Occupancy& gpus, ServerId id, const JobSpec& job,
                                 std::uint32_t count) const {
    const Server& server = gpus.topology().server(id);
    const Use& used = used_[id.value - gpus.servers().first];
    const double workers = static_cast<double>(count) / job.gpus_per_worker;
    const auto part = [](double demand, double free, double all) {
      return all > 0 ? demand / all * std::max(free, 0.0) / all : 0.0;
    };
    return part(count, gpus.free_on(id), server.gpus.size()) +
           part(job.cpus_per_worker * workers, server.cpus - used.cpus, server.cpus) +
           part(job.memory_gib_per_worker * workers, server.memory_gib - used.memory_gib,
                server.memory_gib);
  }

  [[nodiscard]] std::optional<Fitting> fit_of(const Occupancy& gpus, const JobSpec& job) const {
    Fitting out;
    const std::uint32_t count = job.gpus();
    std::optional<ServerId> best;
    if (count <= gpus.largest_free_server()) {
      for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
        const ServerId server{i};
        if (gpus.free_on(server) < count || !allows(job, gpus.topology(), server)) continue;
        const double a = alignment(gpus, server, job, count);
        if (best && a <= out.alignment) continue;
        best = server;
        out.alignment = a;
      }
    }
    if (best) {
      out.placement = gpus.free_gpus(*best, count);
      return out;
    }
    auto found = place(gpus, shape(), job, options().fit);
    if (!found) return std::nullopt;
    const ServerId first = gpus.topology().server_of(found->front());
    const std::uint32_t there = std::min(count, gpus.topology().server(first).gpus.size());
    out.alignment = alignment(gpus, first, job, there);
    out.placement = std::move(*found);
    return out;
  }

  [[nodiscard]] std::optional<Fitting> best_of(const View&, Trial& trial,
                                               const std::vector<std::size_t>& window) {
    std::vector<Fitting> found;
    double sum_alignment = 0;
    double sum_left = 0;
    failed_.assign(index_.kinds(), ~std::uint32_t{0});
    for (const std::size_t i : window) {
      const QueueEntry& entry = index_.queue()[i];
      if (entry.gpus > trial.free_count() || entry.gpus >= failed_[entry.kind]) continue;
      const JobView& job = index_.job(entry);
      auto fitting = fit_of(trial.gpus(), *job.spec);
      if (!fitting) {
        failed_[entry.kind] = entry.gpus;
        continue;
      }
      fitting->entry = i;
      fitting->left = std::max(seconds(job.spec->duration - job.served), 0.0) * entry.gpus;
      sum_alignment += fitting->alignment;
      sum_left += fitting->left;
      found.push_back(std::move(*fitting));
    }
    if (found.empty()) return std::nullopt;
    const double weight = durations_ && sum_left > 0 ? sum_alignment / sum_left : 0;
    const auto score = [&](const Fitting& f) { return f.alignment - weight * f.left; };
    return *std::max_element(found.begin(), found.end(), [&](const Fitting& a, const Fitting& b) {
      return score(a) < score(b);
    });
  }

  PolicyFacts facts_;
  bool durations_;
  std::vector<Use> used_;  // by server of the partition
};

}  // namespace

void add_tetris(PolicyRegistry& registry) {
  registry.add(
      kFacts,
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(kFacts.name, given);
        QueueOptions options;
        options.fit = reader.choice("fit", {"node", "count"}) == "count" ? Fit::count : Fit::node;
        const bool durations = reader.choice("durations", {"no", "yes"}) == "yes";
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(std::make_unique<Tetris>(options, durations));
      },
      "fit=node|count, durations=no|yes (yes: prefer jobs with less work left)");
}

}  // namespace starling
