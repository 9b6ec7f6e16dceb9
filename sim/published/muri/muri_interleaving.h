// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "sim/published/muri/muri_servers.h"
#include "sim/published/muri/muri_simulator.h"
#include "sim/published/muri/service_queues.h"
#include "sim/published/muri/stage_groups.h"

namespace starling {

enum class ServiceOrder : std::uint8_t {
  least_left,      ///< Muri-S
  least_received,  ///< Muri-L
  queues           ///< Muri-L as its figure for jobs of two models was made: Tiresias' queues
};

struct MuriOptions {
  ServiceOrder service = ServiceOrder::least_left;
  std::size_t group = kMostInGroup;  ///< most jobs on the same GPUs
  StageOrder order = StageOrder::best;
  bool matching = true;  ///< else neighbours in the order of service go together
};

/// Muri-S and Muri-L: jobs that ask for as many GPUs share them, up to four on each, and take turns
/// in loading data, computing and exchanging. In order of service, jobs are let in for as many
/// places as there are GPUs for, `group` jobs a place. Rounds of matching join jobs that use the
/// stages best together, until all that were let in have GPUs; groups that would be slower than
/// their jobs one after the other are taken apart, and groups get GPUs by their first job's
/// service.
class MuriInterleaving final : public MuriPolicy {
 public:
  explicit MuriInterleaving(const MuriOptions& options);
  void enter(MuriJob& job) override;
  void leave(MuriJob& job) override;
  void choose(double now_s, std::vector<MuriJob*>& jobs) override;
  [[nodiscard]] std::optional<double> next_change_s(
      double now_s, const std::vector<MuriJob*>& jobs) const override;
  [[nodiscard]] bool together(double end_s, double comes_s) const noexcept override;

 private:
  /// Jobs that share GPUs, in the order in which they were joined.
  using Group = std::vector<MuriJob*>;
  /// Of jobs that ask for the same number of GPUs.
  struct Size {
    std::uint32_t gpus = 0;
    std::vector<Group> groups;
    std::size_t places = 0;
  };
  struct Known {
    std::uint32_t kind = 0;
    double service_s = 0;  ///< on a GPU: left or received
    std::size_t rank = 0;  ///< in the order of service, at this event
  };
  /// Numbers of the kinds of a group's jobs, in the order in which they were joined: so are their
  /// times added up, and the last bit decides among equals.
  using Kinds = std::vector<std::uint32_t>;
  struct Matched {
    std::vector<Kinds> nodes;
    std::vector<std::size_t> mates;
  };

  [[nodiscard]] Kinds kinds_of(const Group& group) const;
  [[nodiscard]] std::vector<MuriJob*> in_order(std::vector<MuriJob*>& jobs);
  [[nodiscard]] std::vector<Size> let_in(const std::vector<MuriJob*>& jobs) const;
  [[nodiscard]] const std::vector<std::size_t>& mates_of(const Size& size, std::size_t round);
  void join_neighbours(std::vector<Size>& sizes) const;
  void join_by_matching(std::vector<Size>& sizes);
  [[nodiscard]] std::vector<Group> placed(const std::vector<Size>& sizes);
  void run(const std::vector<Group>& groups);

  MuriOptions options_;
  StageGroups stages_;
  ServiceQueues queues_;
  std::unordered_map<const MuriJob*, Known> known_;
  std::map<std::pair<std::uint32_t, std::size_t>, Matched>
      matched_;  ///< by GPUs and round: the last
};

}  // namespace starling
