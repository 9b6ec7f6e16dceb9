// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "policies/partitions/remote_partitions.h"
#include "policies/placement/type_speeds.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"

namespace starling {

/// Where a job is to be a member of a partition, for policies that share a partition out among all
/// jobs that are there: nothing is free then, so free GPUs say nothing.
///
/// The price of a GPU type is what is wanted of it, by those who run and those who wait, for each
/// GPU: the price at which a market that knows everybody's GPUs as his budget is cleared (Kelly
/// 1997), and the factor by which jobs are slowed that share it. A job costs (price with it there,
/// at least 1) / (its speed on that type); it goes where that is least. Whoever does not say prices
/// is left out.
class PriceRouting {
 public:
  /// `elastic`: jobs that are may have any of their sizes, and want the largest.
  explicit PriceRouting(bool elastic) : elastic_(elastic) {}

  /// First in every decide(): gives jobs that are new here, and have been nowhere else, to whom
  /// they cost least, and answers the view without them, valid until the next call. O(waiting jobs
  /// and running ones, where the view has them).
  [[nodiscard]] const View& route(const View& view, std::vector<Decision>& out);
  /// For those of `left` that a round has left out: gives away who costs less elsewhere by a
  /// quarter at least. Nothing where nobody says prices.
  void rebalance(const View& view, std::span<const JobView* const> left,
                 std::vector<Decision>& out);
  /// Policy::prices() as of the last route().
  [[nodiscard]] std::span<const TypePrice> prices() const noexcept { return prices_; }

 private:
  struct Type {
    GpuTypeId id;
    std::uint32_t gpus = 0;
    std::uint32_t free = 0;
    double wanted = 0;  ///< by those who run on it
  };
  struct Place {
    AgentId agent;
    double cost = 0;     ///< infinite: not there
    bool starts = false;  ///< GPUs enough are free
  };
  void learn(const View& view);
  void count(const View& view, std::uint64_t newest);
  [[nodiscard]] double price_of(const Type& type) const;
  [[nodiscard]] double speed_of(const JobSpec& job, GpuTypeId type);
  [[nodiscard]] std::uint32_t most_gpus(const JobSpec& job) const;
  [[nodiscard]] std::uint32_t least_gpus(const JobSpec& job) const;
  [[nodiscard]] std::uint32_t look_of(const JobSpec& job);
  [[nodiscard]] Place here(const View& view, const JobSpec& job, bool counted);
  [[nodiscard]] Place elsewhere(const View& view, const JobView& job);
  void forward(const View& view, const JobView& job, AgentId to, std::vector<Decision>& out);

  using Look = std::tuple<std::string, std::uint32_t, std::uint32_t, double, double,
                          std::vector<std::string>>;
  bool elastic_;
  RemotePartitions peers_;
  TypeSpeeds speeds_;
  FreeServers free_;
  std::vector<TypeRoom> rooms_;
  std::vector<Type> types_;  // of this partition, ascending
  std::uint32_t gpus_ = 0;
  double waiting_ = 0;  // GPUs wanted by those who wait
  std::map<Look, std::uint32_t> looks_;
  std::vector<TypePrice> prices_;
  std::optional<std::uint64_t> newest_;  // order of the job that came last
  std::vector<JobView> kept_;
  std::optional<View> without_;
};

}  // namespace starling
