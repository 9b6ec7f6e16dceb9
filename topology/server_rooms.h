// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/occupancy.h"
#include "topology/server_room.h"

namespace starling {

/// What the servers of a partition have left beside their free GPUs, kept across calls: a call
/// costs what has changed, and nothing while no job has CPUs or memory of the partition.
class ServerRooms {
 public:
  /// Those with a free GPU, equal ones together, of many GPUs first; empty where no job has taken
  /// CPUs or memory: then each server has all of its own. More than kMostServerRooms are made fewer
  /// by rounding down, so that they never say more than there is: CPUs to 1, 2, 4, ... and memory
  /// to as many GiB, and if that does not help, those with the fewest GPUs are left out. Always of
  /// the same partition.
  void read(const Occupancy& gpus, std::vector<ServerRoom>& out);

 private:
  void build(const Occupancy& gpus);
  void look(const Occupancy& gpus, std::uint32_t server);
  void count(const ServerRoom& room, bool more);

  std::vector<ServerRoom> rooms_;      // all of them, in order
  std::vector<ServerRoom> of_server_;  // as last counted; by server, from the partition's first
  ChangeLog::Mark seen_;
  bool built_ = false;
};

/// Makes `rooms`, in order, at most `most`, as ServerRooms::read() says.
void make_fewer(std::vector<ServerRoom>& rooms, std::size_t most);

}  // namespace starling
