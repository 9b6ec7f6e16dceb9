// Faults of disks: F13 to F16. A journal is SQLite or etcd in the real program: a batch is there as
// a whole or not at all, and damage is found when it is read.
#include "sim/chaos_faults.h"

namespace starling {

void ChaosFaults::fill_disk(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  world.disk(node).faults().room = rng.below(50);
  world.at(world.now() + outage(rng), [node](World& w) { w.disk(node).faults().room.reset(); });
}

void ChaosFaults::fail_write(World& world, Rng& rng, Dose) {
  world.disk(any_server(rng)).faults().fails_once = true;
}

void ChaosFaults::break_disk(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  world.disk(node).faults().fails = true;
  world.at(world.now() + outage(rng), [node](World& w) { w.disk(node).faults().fails = false; });
}

void ChaosFaults::stop_in_write(World& world, Rng& rng, Dose) {
  static constexpr DiskFaults::Stop kWhen[] = {DiskFaults::Stop::before, DiskFaults::Stop::torn,
                                               DiskFaults::Stop::after};
  world.disk(any_server(rng)).faults().stop = kWhen[rng.below(3)];
}

/// Found at the next start, so the node is killed, too. Of a partition in etcd the other members
/// have the record; an executor's file comes from the operator's copy.
void ChaosFaults::flip_bit(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  if (!world.disk(node).damage(rng.next())) return;
  kill(world, rng, node);
}

void ChaosFaults::slow_disks(World& world, Rng& rng, Dose dose) {
  for (const NodeId node : nodes_) {
    if (rng.chance(0.5)) continue;
    DiskFaults& disk = world.disk(node).faults();
    disk.slow_chance = dose == Dose::mild ? 0.3 : 0.1;
    disk.slow_most = from_seconds((dose == Dose::mild ? 0.05 : 5) * rng.uniform());
  }
}

}  // namespace starling
