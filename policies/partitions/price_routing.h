// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "policies/candidates/type_speeds.h"
#include "policies/partitions/remote_partitions.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"

namespace starling {

/// Where a job is to be a member of a partition, for policies that share a partition out among all
/// jobs that are there: nothing is free then, so free GPUs say nothing.
///
/// The price of a GPU type is what is wanted of it, by those who run and those who wait, for each
/// GPU in service: the price at which a market is cleared where every job's GPUs are its budget
/// (Kelly 1997), and the factor by which jobs are slowed that share it. A job costs (price with it
/// there, at least 1) / (its speed on that type); it goes where that is least. An agent that does
/// not say prices is left out.
class PriceRouting {
 public:
  /// `elastic`: jobs that are may have any of their sizes, and want the largest.
  /// `speed_power`: how much of a type's speed counts in what a job costs there. Where it counts
  /// whole (nothing), slow types stay empty until fast ones are wanted as many times over as they
  /// are faster: right where all of a partition have even shares, too dear where its jobs take
  /// turns.
  explicit PriceRouting(bool elastic, std::optional<double> speed_power = {})
      : elastic_(elastic), speed_power_(speed_power) {}

  /// First in every decide(), which is checked by what is asked of the view after it: gives jobs
  /// that are new here, and have been nowhere else, to whom they cost least, and answers the view
  /// without them, valid until the next call. O(waiting jobs and running ones, where the view has
  /// them).
  [[nodiscard]] const View& route(const View& view, std::vector<Decision>& out);
  /// Of `left`, waiting jobs of that view which a round has left out: gives away those that cost
  /// less elsewhere by kWorthMoving at least. Nothing where no agent says prices.
  void rebalance(const View& view, std::span<const JobView* const> left,
                 std::vector<Decision>& out);
  /// At a round, for a policy that preempts: running jobs that are worth stopping, since elsewhere,
  /// or of gangs over partitions also here, they cost less by kWorthMoving and by kRestart in time;
  /// those first that save most, a few in
  /// all. They are taken to go on for as long as they have run. One that the caller stops is given
  /// away by route() once it waits, if that is still so.
  [[nodiscard]] std::vector<const JobView*> pick_movers(const View& view);
  /// Free GPUs there are no reason to move: it would cost a quarter more on them than here, since
  /// they are slow. Where no agent says prices it never is so. For OverflowRouting::set_veto(),
  /// after route().
  [[nodiscard]] bool costs_more(const View& view, const JobView& job, AgentId to);
  /// Policy::prices() as of the last route().
  [[nodiscard]] std::span<const TypePrice> prices() const noexcept { return prices_; }

 private:
  struct Type {
    GpuTypeId id;
    std::uint32_t gpus = 0;
    std::uint32_t free = 0;
    std::uint32_t in_service = 0;  ///< of `gpus`: free, or a job runs there
    double wanted = 0;             ///< by those who run on it
  };
  struct Place {
    AgentId agent;
    double cost = 0;      ///< infinite: not there
    bool starts = false;  ///< GPUs enough are free
  };
  void learn(const View& view);
  /// That was the view of the last route(), or what it answered.
  [[nodiscard]] bool was_routed(const View& view) const {
    return routed_at_ == view.now && routed_by_ == view.others.data();
  }
  [[nodiscard]] bool is_new(const JobView& job);
  void find_newcomers(const View& view);
  void count(const View& view);
  void count_in_service(const View& view);
  [[nodiscard]] double price_of(const Type& type) const;
  [[nodiscard]] double speed_of(const View& view, const JobSpec& job, GpuTypeId type);
  [[nodiscard]] std::uint32_t most_gpus(const JobSpec& job) const;
  [[nodiscard]] std::uint32_t least_gpus(const JobSpec& job) const;
  [[nodiscard]] std::uint32_t look_of(const JobSpec& job);
  void bound_looks();
  /// Factor of what a type costs of which so many are free.
  [[nodiscard]] double without_room(const JobSpec& job, std::uint32_t free) const;
  [[nodiscard]] Place here(const View& view, const JobSpec& job, bool counted);
  /// Of a job that runs on that type.
  [[nodiscard]] double cost_on(const View& view, const JobSpec& job, GpuTypeId type);
  [[nodiscard]] GpuTypeId slowest_type(const View& view, const JobView& job);
  [[nodiscard]] double cost_to_stay(const View& view, const JobView& job, GpuTypeId type);
  [[nodiscard]] Place better_place(const View& view, const JobView& job, double stay);
  static constexpr double kNowhere = std::numeric_limits<double>::infinity();
  [[nodiscard]] static double cost_of(double price, double speed);
  [[nodiscard]] Place there(const View& view, const RemotePartition& peer, const JobSpec& job);
  [[nodiscard]] Place elsewhere(const View& view, const JobView& job);
  void forward(const View& view, const JobView& job, AgentId to, std::vector<Decision>& out);

  using Look = std::tuple<std::string, std::uint32_t, std::uint32_t, double, double,
                          std::vector<std::string>, std::uint32_t, double, std::uint32_t>;
  bool elastic_;
  std::optional<double> speed_power_;
  RemotePartitions peers_;
  TypeSpeeds speeds_;
  FreeServers free_;
  std::vector<TypeRoom> rooms_;
  std::vector<Type> types_;  // of this partition, ascending
  std::uint32_t gpus_ = 0;   // in service
  double waiting_ = 0;       // GPUs wanted by those who wait
  std::map<Look, std::uint32_t> looks_;
  std::vector<TypePrice> prices_;
  std::uint64_t newest_ = 0;  // order of the job that came last
  std::vector<const JobView*> fresh_;
  std::vector<JobView> kept_;
  std::optional<View> without_;
  Instant routed_at_ = kNever;               // the last route()
  const RemoteDigest* routed_by_ = nullptr;  // what others had said then
  bool together_ = false;                    // another was there then
  std::vector<JobId> movers_;                // that pick_movers() gave, and that do not wait yet
};

}  // namespace starling
