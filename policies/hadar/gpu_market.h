// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "policies/hadar/gang_job.h"
#include "policies/hadar/gpu_prices.h"
#include "topology/occupancy.h"

namespace starling {

/// Where a gang could start now, and what it would pay.
struct GangOffer {
  /// Workers, or with `stays` the GPUs that it has there, for a worker may be cut over servers;
  /// ascending by server.
  std::vector<std::pair<ServerId, std::uint32_t>> parts;
  double rest = 0;  ///< rounds until the job is over
  double utility = 0;
  double cost = 0;      ///< of all its GPUs for all these rounds
  bool stays = false;   ///< where it runs
  bool copies = false;  ///< each part is a copy of the job, and they are averaged
  [[nodiscard]] double payoff() const noexcept { return utility - cost; }
  /// That a part so large is, of a gang whose workers have so many each.
  [[nodiscard]] std::uint32_t gpus_of(std::uint32_t part, std::uint32_t each) const noexcept {
    return stays ? part : part * each;
  }
};

/// GPUs of a partition for the rounds to come, with a price each: the dual problem of which jobs
/// run where.
///
/// What is taken is taken from now on, for as many rounds as the job needs, so that of a server
/// fewer GPUs are taken the later it is, and a round costs by how many (PriceRange). GPUs that are
/// taken when the market opens never come back. Unit of a price: utility.
class GpuMarket {
 public:
  /// `gpus` must outlive it; what is taken here is taken there. `types`: by index in the topology.
  GpuMarket(Occupancy& gpus, std::vector<PriceRange> types);

  /// Of one GPU of the server for its first so many rounds.
  [[nodiscard]] double price(ServerId server, double rounds) const;
  /// The place with the highest payoff, which may be below 0; nothing: there is none with enough
  /// free GPUs. Looked at: where the job runs; every server with room for it; and for every type
  /// the cheapest GPUs of types at least as fast, wherever they are. As a gang's pace depends on no
  /// more than its slowest type and whether it is on one server, no other place has more. Of equal
  /// ones where it runs, then the fuller server, then the lowest.
  [[nodiscard]] std::optional<GangOffer> best(const GangJob& job) const;
  /// Answers which GPUs it took, for give_back() alone: those of a server are as good as one
  /// another, and one that stays is to have its own in the end.
  Placement take(const GangJob& job, const GangOffer& offer);
  void give_back(const GangJob& job, const GangOffer& offer, const Placement& taken);
  /// What has been taken, of which job, for how long: markets that differ in it alone, and are
  /// equal in this, answer the same.
  [[nodiscard]] std::vector<double> state() const;
  [[nodiscard]] const std::vector<PriceRange>& types() const noexcept { return types_; }

 private:
  struct Hold {
    double rounds = 0;
    std::uint32_t gpus = 0;
    friend bool operator==(const Hold&, const Hold&) = default;
  };
  struct Stall {
    GpuTypeId type;
    double all = 0, taken = 0;  // GPUs; taken from the outset
    std::vector<Hold> holds;
  };
  [[nodiscard]] const Stall& at(ServerId server) const;
  [[nodiscard]] Stall& at(ServerId server);
  [[nodiscard]] std::uint32_t room(ServerId server, const GangJob& job) const;
  void consider(const GangJob& job, GangOffer offer, std::optional<GangOffer>& best) const;
  void stay(const GangJob& job, std::optional<GangOffer>& best) const;
  void on_one_server(const GangJob& job, std::size_t type, std::optional<GangOffer>& best) const;
  void on_several(const GangJob& job, std::size_t slowest, std::optional<GangOffer>& best) const;

  Occupancy* gpus_;
  std::vector<PriceRange> types_;
  std::vector<Stall> stalls_;                   // by server of the partition
  std::vector<std::vector<ServerId>> by_type_;  // ascending
};

}  // namespace starling
