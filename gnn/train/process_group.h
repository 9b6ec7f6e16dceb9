// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// The processes that train together, on one machine or several. All do the same in the same order
/// and divide the costly parts; the result is that of one process, bit for bit.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  [[nodiscard]] virtual std::uint32_t rank() const { return 0; }
  [[nodiscard]] virtual std::uint32_t size() const { return 1; }
  /// What every process gave, by rank; every process calls it equally often, and waits for the
  /// others. `io`: one of them is gone.
  [[nodiscard]] virtual Result<std::vector<std::string>> all_gather(const std::string& mine) {
    return std::vector<std::string>{mine};
  }
  [[nodiscard]] bool first() const { return rank() == 0; }
  /// Whether this process does part i of something that is divided.
  [[nodiscard]] bool does(std::size_t i) const { return i % size() == rank(); }
};

/// Which process this is, and where they meet; names and meanings are those of torchrun: the first
/// process listens there.
struct Rendezvous {
  std::uint32_t rank = 0, size = 1;
  std::string host = "127.0.0.1";
  std::uint16_t port = 29500;
};
/// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them. Where WORLD_SIZE is
/// not set, of a task of srun: SLURM_PROCID and SLURM_STEP_NUM_TASKS; they meet at the first host
/// of SLURM_STEP_NODELIST, on a port by job and step, unless MASTER_ADDR or MASTER_PORT say
/// otherwise. Alone where neither is set. `invalid` says which makes no sense.
[[nodiscard]] Result<Rendezvous> rendezvous_from_environment();
/// Waits until all are there. `io`: they did not come within some minutes.
[[nodiscard]] Result<std::unique_ptr<ProcessGroup>> rendezvous(const Rendezvous& at);

/// work(i) for all i below `count`, divided among the processes and on `threads` of each; all get
/// all answers, or the first error.
using Row = std::vector<double>;
[[nodiscard]] Result<std::vector<Row>> for_all(ProcessGroup& processes, std::uint32_t threads,
                                               std::size_t count,
                                               const std::function<Result<Row>(std::size_t)>& work);

}  // namespace starling
