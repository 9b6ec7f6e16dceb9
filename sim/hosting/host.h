// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/hosting/etcd_way.h"
#include "sim/hosting/journal_model.h"
#include "store/hosting/hosting_post.h"

namespace starling {

class HostingWorld;
class TaskAuthority;

/// An agent's process with its seats: what `starling node` does about partitions in etcd, with the
/// same posts, plans, leases, takeovers and journals. In the place of an agent's core there is
/// an owner that speaks and writes whenever the lease says that it may.
class SimHost {
 public:
  SimHost(HostingWorld& world, AgentId me, Rng rng);

  /// A life, from nothing but its state directory's name.
  void start();
  void kill();
  void freeze(Duration lasts);
  void cut(bool from_etcd) { machine_.cut = from_etcd; }
  void slow(Duration way) { machine_.slow = way; }
  /// Its seats on the bus cannot be had.
  void deafen(bool deaf) { deaf_ = deaf; }
  void set_rate(double rate);

 private:
  struct Life;

  void look_around(Life& life);
  [[nodiscard]] HostingPlan::End serve(HostingPost& post, PartitionId partition,
                                       const Ownership& seen);
  /// One cycle of one that serves.
  [[nodiscard]] Status cycle(TaskAuthority& authority, const Ownership& mine, Journal& journal,
                             std::vector<Record>& all);
  /// Where it hurts most: while a write is on its way, or just after a renewal was.
  void strike_in_write();
  void strike_after_renewal();
  [[nodiscard]] std::unique_ptr<SimEtcdWay> way(const EtcdOptions& options);

  HostingWorld& world_;
  AgentId me_;
  Rng rng_;
  std::string holder_;  // of leases, in every life
  HostMachine machine_;
  HostClock clock_;
  bool alive_ = false, deaf_ = false;
};

}  // namespace starling
