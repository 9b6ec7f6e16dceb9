// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "policies/builtin.h"
#include "policies/placement/placement_system.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "tetris",
    .summary =
        "packs two resources of each GPU, places for jobs and the pressure they put on each "
        "other; waits where either is short",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

/// Tetris (SIGCOMM'14) on GPUs that two jobs may share. A GPU offers two places and a pressure of
/// 1; a job asks on each of its GPUs for one place and for the pressure of its model: what a
/// neighbour on the same GPU loses by it on average over Gavel's job types, scaled so that the
/// models' mean is a half. Neither is ever given away twice, so a job may wait although there is a
/// place. Of the servers that can take it, the one whose free resources point most the way of the
/// demand (score=dot: the emptiest), or with the least left over (score=fit). A gang that no server
/// can take goes over several, best first.
class Tetris final : public Scorer {
 public:
  explicit Tetris(bool fit) : tightest_(fit) {}

  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules;
    rules.own_places = true;
    rules.shared = SharedPlaces::never;
    rules.waits = false;
    return rules;
  }

  [[nodiscard]] std::optional<Placement> place(const DecisionPoint& point) override {
    follow(point);
    const Need need{point.request.gpus, pressure(point.view, point.request.spec->model)};
    std::vector<std::uint32_t> refused;
    while (refused.size() < kServersTried) {
      const auto server = best_server(point, need, refused);
      if (!server) break;
      Placement out = gpus_for(point, *server, need);
      if (out.size() == need.gpus) return out;
      refused.push_back(*server);  // too little memory beside those who are there
    }
    return over_several(point, need);
  }

  Scored score(const DecisionPoint&, std::span<double> scores) override {
    std::ranges::fill(scores, 0.0);  // the place, or else waiting
    return {};
  }

 private:
  static constexpr std::int64_t kWhole = 1'000'000;  // the pressure that a GPU bears
  static constexpr std::size_t kServersTried = 8;
  struct Need {
    std::uint32_t gpus = 1;
    std::int64_t pressure = 0;
  };
  /// What a server has left: by GPU the pressure, below 0 where there is no place.
  struct Left {
    std::vector<std::int64_t> by_gpu;
    std::int64_t pressure = 0;
    std::uint32_t places = 0;
  };

  /// Of a model, in millionths.
  [[nodiscard]] std::int64_t pressure(const View& view, const std::string& model) {
    const auto known = pressure_.find(model);
    if (known != pressure_.end()) return known->second;
    if (mean_ <= 0) {
      double sum = 0;
      for (const ModelProfile& m : gavel_models()) sum += inflicted(view, std::string(m.name));
      mean_ = std::max(sum / static_cast<double>(gavel_models().size()), 1e-9);
    }
    const double scaled = inflicted(view, model) / mean_ / 2;
    const auto whole = static_cast<std::int64_t>(std::llround(scaled * kWhole));
    return pressure_.emplace(model, std::clamp<std::int64_t>(whole, 0, kWhole)).first->second;
  }

  /// Mean part of their speed that Gavel's job types lose beside that one.
  [[nodiscard]] static double inflicted(const View& view, const std::string& model) {
    const Placement one{GpuId{view.gpus.gpus().first}};
    JobProfile by;
    by.model = model;
    double sum = 0;
    for (const ModelProfile& m : gavel_models()) {
      JobProfile victim;
      victim.model = m.name;
      const double alone = view.speed.speed(victim, one, {}).relative;
      sum += 1 - view.speed.speed(victim, one, {{by, one}}).relative / alone;
    }
    return sum / static_cast<double>(gavel_models().size());
  }

  void follow(const DecisionPoint& point) {
    const auto changed = point.candidates.changed_since(seen_);
    seen_ = point.candidates.changes();
    const std::uint32_t servers = point.view.gpus.servers().size();
    if (changed && left_.size() == servers) {
      for (const std::uint32_t s : *changed) measure(point, s);
      return;
    }
    left_.assign(servers, {});
    for (std::uint32_t s = 0; s < servers; ++s) measure(point, s);
  }

  void measure(const DecisionPoint& point, std::uint32_t s) {
    const View& view = point.view;
    const IndexRange range = view.topology.server(ServerId{view.gpus.servers().first + s}).gpus;
    Left& left = left_[s];
    left = {};
    Residents& residents = point.candidates.residents();
    for (std::uint32_t i = range.first; i < range.last; ++i) {
      const GpuId gpu{i};
      std::int64_t room = -1;
      if (point.candidates.free().is_free(gpu)) {
        room = kWhole;
        left.places += view.gpus.jobs_per_gpu();
      } else if (point.candidates.sharing() && residents.open(view, gpu)) {
        room = kWhole - pressure(view, residents.at(residents.tenant(gpu)).self.job.model);
        ++left.places;
      }
      left.pressure += std::max<std::int64_t>(room, 0);
      left.by_gpu.push_back(room);
    }
  }

  [[nodiscard]] static std::uint32_t able(const Left& left, const Need& need) {
    return static_cast<std::uint32_t>(
        std::count_if(left.by_gpu.begin(), left.by_gpu.end(),
                      [&](std::int64_t room) { return room >= need.pressure; }));
  }

  /// Larger is better.
  [[nodiscard]] double score(const View& view, const Left& left, const Need& need) const {
    const auto gpus = static_cast<double>(left.by_gpu.size());
    const double places = left.places / (gpus * view.gpus.jobs_per_gpu());
    const double pressure = static_cast<double>(left.pressure) / kWhole / gpus;
    const double ask_places = need.gpus / (gpus * view.gpus.jobs_per_gpu());
    const double ask_pressure = static_cast<double>(need.pressure) / kWhole * need.gpus / gpus;
    if (tightest_) return -(places - ask_places) - (pressure - ask_pressure);
    return places * ask_places + pressure * ask_pressure;
  }

  [[nodiscard]] std::optional<std::uint32_t> best_server(
      const DecisionPoint& point, const Need& need, const std::vector<std::uint32_t>& but) const {
    const View& view = point.view;
    std::optional<std::uint32_t> best;
    double best_score = 0;
    for (std::uint32_t s = 0; s < left_.size(); ++s) {
      if (left_[s].places < need.gpus || able(left_[s], need) < need.gpus) continue;
      if (!allows(*point.request.spec, view.topology, ServerId{view.gpus.servers().first + s}))
        continue;
      const double its = score(view, left_[s], need);
      if (best && its <= best_score) continue;
      if (std::find(but.begin(), but.end(), s) != but.end()) continue;
      best = s;
      best_score = its;
    }
    return best;
  }

  /// Up to need.gpus GPUs of the server: the emptiest ones for `dot`, the fullest for `fit`.
  [[nodiscard]] Placement gpus_for(const DecisionPoint& point, std::uint32_t server,
                                   const Need& need) {
    const ServerId id{point.view.gpus.servers().first + server};
    const std::uint32_t first = point.view.topology.server(id).gpus.first;
    std::vector<std::pair<std::int64_t, GpuId>> able;
    for (std::uint32_t i = 0; i < left_[server].by_gpu.size(); ++i) {
      const std::int64_t room = left_[server].by_gpu[i];
      const GpuId gpu{first + i};
      if (room < need.pressure || !point.candidates.may_join(point.request, gpu)) continue;
      able.emplace_back(tightest_ ? room : -room, gpu);
    }
    std::sort(able.begin(), able.end());
    if (able.size() > need.gpus) able.resize(need.gpus);
    Placement out;
    for (const auto& [room, gpu] : able) out.push_back(gpu);
    std::sort(out.begin(), out.end());
    return out;
  }

  [[nodiscard]] std::optional<Placement> over_several(const DecisionPoint& point,
                                                      const Need& need) {
    const View& view = point.view;
    const PlacementRequest& request = point.request;
    const std::uint32_t one = request.gpus_per_worker <= point.candidates.free().largest_server(0)
                                  ? request.gpus_per_worker
                                  : 1;
    struct Server {
      double score;
      std::uint32_t index;
    };
    std::vector<Server> servers;
    std::uint32_t room = 0;
    for (std::uint32_t s = 0; s < left_.size(); ++s) {
      if (left_[s].places == 0) continue;
      const std::uint32_t here = able(left_[s], need) / one * one;
      if (here == 0) continue;
      if (!allows(*point.request.spec, view.topology, ServerId{view.gpus.servers().first + s}))
        continue;
      servers.push_back({score(view, left_[s], need), s});
      room += here;
    }
    if (room < request.gpus) return std::nullopt;
    std::sort(servers.begin(), servers.end(), [](const Server& a, const Server& b) {
      return a.score != b.score ? a.score > b.score : a.index < b.index;
    });
    Placement out;
    for (const Server& server : servers) {
      const auto left = request.gpus - static_cast<std::uint32_t>(out.size());
      Placement some = gpus_for(point, server.index, {left, need.pressure});
      some.resize(some.size() / one * one);
      out.insert(out.end(), some.begin(), some.end());
      if (out.size() < request.gpus) continue;
      std::sort(out.begin(), out.end());
      return out;
    }
    return std::nullopt;
  }

  bool tightest_;
  std::map<std::string, std::int64_t> pressure_;
  double mean_ = 0;  // of inflicted() over Gavel's job types
  std::uint64_t seen_ = 0;
  std::vector<Left> left_;  // by server
};

}  // namespace

void add_tetris(PolicyRegistry& registry) {
  registry.add_placement(kFacts, [](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const bool fit =
        reader.choice(
            "score", {"dot", "fit"},
            "dot: demand along what is free, so the emptiest; fit: the least left over") == "fit";
    PlacementSystem system{kFacts, options, PlacementOrder::arrival, std::make_unique<Tetris>(fit)};
    read_may(reader, system);
    return system;
  });
}

}  // namespace starling
