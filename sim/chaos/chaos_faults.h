// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bus/wire/codec.h"
#include "sim/chaos/fault_script.h"
#include "sim/chaos/queue_draw.h"
#include "sim/chaos/server_change.h"
#include "store/hosting/flock_members.h"

namespace starling {

/// What can be injected: its name, with the number that the list of faults gives it, and in words.
struct FaultKind {
  std::string name;
  std::string what;
};
[[nodiscard]] std::vector<FaultKind> fault_kinds();

/// The faults of one seed. Swarm testing (Groce 2012): each kind is off, mild or extreme for the
/// whole seed, so that a rare kind is not always drowned by the others. Every kind has random
/// numbers of its own: leaving one out leaves the others as they were. Outlives the world.
class ChaosFaults final : public FaultScript {
 public:
  enum class Dose : std::uint8_t { off, mild, extreme };

  /// `without`: names of kinds that are off, or their numbers alone ("F13"). `only`: those are on,
  /// and no others; empty: drawn.
  ChaosFaults(std::uint32_t agents, std::uint32_t executors_each, Duration last, Rng rng,
              const std::set<std::string>& without, const std::set<std::string>& only = {});

  // Before the world is made.
  [[nodiscard]] bool known_lives() {
    return state("F15-restored").dose != Dose::off || state("F15-accepted").dose != Dose::off;
  }
  [[nodiscard]] bool herd();    ///< all jobs come at one instant
  [[nodiscard]] bool gossip();  ///< agents tell one another as in large flocks
  [[nodiscard]] bool sizes();   ///< many jobs are elastic, and have any of their sizes
  [[nodiscard]] bool terms();   ///< some jobs begin late, wait for others or have a time limit
  /// Of a flock of so many GPUs; null: there are none in this seed.
  [[nodiscard]] QueueDraw* queues(std::uint32_t gpus);
  /// The most of a server's CPUs and memory that a worker asks for; 0: none asks for any.
  [[nodiscard]] double means();
  [[nodiscard]] std::uint32_t clients() const noexcept { return clients_; }
  [[nodiscard]] const ChaosKnobs& knobs() const noexcept override { return knobs_; }
  /// How long there are faults; then all is healed.
  [[nodiscard]] Duration last() const noexcept { return end_.time_since_epoch(); }
  void tighten(Limits& limits);
  [[nodiscard]] std::unique_ptr<Policy> faulty_policy(AgentId agent, std::unique_ptr<Policy> good,
                                                      std::function<void(Duration)> stall);

  /// Scripts everything, and the healing at the end. `wrong`: the topology of an executor that was
  /// given another site's file.
  void plan(World& world, const Topology& wrong);
  /// Kills go by events, so that they hit inside of protocol steps and not only idle time.
  void between_events(World& world) override;
  [[nodiscard]] bool healed() const noexcept override { return healed_; }
  [[nodiscard]] const std::set<ServerId>& servers_gone() const noexcept override {
    return servers_gone_;
  }
  [[nodiscard]] bool servers_changed() const noexcept override { return new_servers_ > 0; }
  [[nodiscard]] std::string misplaced() const override;
  [[nodiscard]] FaultCounts counts(World& world) const override;
  [[nodiscard]] const std::optional<Loss>& loss() const noexcept override { return loss_; }
  void loss_was_accepted() override { ++counts_["F15-accepted: gone on"]; }
  void say_queues_anew(World& world) override;
  [[nodiscard]] std::vector<std::string> active() const override;

  struct Kind;  ///< chaos_faults.cpp

 private:
  struct State {  // of one kind, in the order of the table
    Dose dose = Dose::off;
    Rng rng{0};
  };
  /// What happens; called once at the start, or again and again.
  using Fault = void (ChaosFaults::*)(World&, Rng&, Dose);
  friend struct Kind;
  friend std::vector<FaultKind> fault_kinds();
  [[nodiscard]] static std::span<const Kind> kinds();
  [[nodiscard]] State& state(const char* name);
  void repeat(World& world, std::size_t kind);

  // chaos_process.cpp
  void kill(World& world, Rng& rng, NodeId node);
  void bring_back(World& world, NodeId node);
  void bring_back_in(World& world, NodeId node, Duration wait);
  void stopped(World& world, NodeId node);
  bool went_down(NodeId node);
  void renew_client(World& world, std::uint32_t place);
  void kill_rack(World& world, Rng& rng, Dose dose);
  void kill_all_agents(World& world, Rng& rng, Dose dose);
  void restart_all_executors(World& world, Rng& rng, Dose dose);
  void pause(World& world, Rng& rng, Dose dose);
  void suspend(World& world, Rng& rng, Dose dose);
  void skew(World& world, Rng& rng, Dose dose);
  void lose_host(World& world, Rng& rng, Dose dose);
  void lose_owner(World& world, Rng& rng, Dose dose);
  void retire(World& world, Rng& rng, Dose dose);
  void set_calendar(World& world, Rng& rng, Dose dose);
  // chaos_machine.cpp
  void slow_starts(World& world, Rng& rng, Dose dose);
  void slow_stops(World& world, Rng& rng, Dose dose);
  void failing_jobs(World& world, Rng& rng, Dose dose);
  void kill_guardian(World& world, Rng& rng, Dose dose);
  void spoil_gpu(World& world, Rng& rng, Dose dose);
  void compact(World& world, Rng& rng, Dose dose);
  // chaos_network.cpp
  void isolate(World& world, Rng& rng, Dose dose);
  void halve(World& world, Rng& rng, Dose dose);
  void cut_one_way(World& world, Rng& rng, Dose dose);
  void swizzle(World& world, Rng& rng, Dose dose);
  void delay(World& world, Rng& rng, Dose dose);
  void clog(World& world, Rng& rng, Dose dose);
  void lose(World& world, Rng& rng, Dose dose);
  void duplicate(World& world, Rng& rng, Dose dose);
  void reorder(World& world, Rng& rng, Dose dose);
  void corrupt(World& world, Rng& rng, Dose dose);
  void pick_on_kinds(World& world, Rng& rng, Dose dose);
  void short_queues(World& world, Rng& rng, Dose dose);
  void read_slowly(World& world, Rng& rng, Dose dose);
  void cut_rack(World& world, Rng& rng, Dose dose);
  Status depose(World& world, AgentId agent, Duration lasts);
  void cut(World& world, NodeId from, NodeId to, Duration lasts);
  [[nodiscard]] bool cut_off(World& world, NodeId node) const;
  [[nodiscard]] Network::Tampered tamper(NodeId from, NodeId to, std::vector<std::byte>& frame);
  [[nodiscard]] Network::Tampered picked_on(NodeId from, NodeId to, std::vector<std::byte>& frame);
  [[nodiscard]] Network::Tampered garble(Rng& rng, NodeId from, NodeId to,
                                         std::vector<std::byte>& frame);
  // chaos_disk.cpp
  void fill_disk(World& world, Rng& rng, Dose dose);
  void fail_write(World& world, Rng& rng, Dose dose);
  void break_disk(World& world, Rng& rng, Dose dose);
  void stop_in_write(World& world, Rng& rng, Dose dose);
  void flip_bit(World& world, Rng& rng, Dose dose);
  void spoil_memory(World& world, Rng& rng, Dose dose);
  void slow_disks(World& world, Rng& rng, Dose dose);
  void choose_loss(World& world, Rng& rng, Dose dose);
  void restore(World& world, Rng& rng, Dose dose);
  [[nodiscard]] bool all_hear_all() const;
  [[nodiscard]] Duration times_heard() const;
  void run_old_copy(World& world, AgentId agent, const World::Backup& backup);
  // chaos_policy.cpp
  void lie(World& world, Rng& rng, Dose dose);
  [[nodiscard]] Network::Tampered untrue(Rng& rng, std::vector<std::byte>& frame);
  // chaos_operator.cpp
  void zombie(World& world, Rng& rng, Dose dose);
  void take_over(World& world, Rng& rng, Dose dose);
  void take_over_late(World& world, Rng& rng, Dose dose);
  void two_candidates(World& world, Rng& rng, Dose dose);
  void cancel(World& world, Rng& rng, Dose dose);
  void change(World& world, Rng& rng, Dose dose);
  void ask(World& world, Rng& rng, Dose dose);
  void mislead(World& world, Rng& rng, Dose dose);
  void drain(World& world, Rng& rng, Dose dose);
  void change_version(World& world, Rng& rng, Dose dose);
  // chaos_queues.cpp
  void change_queues(World& world, Rng& rng, Dose dose);
  void want_queues(World& world, QueueTree tree);
  void say_queues(World& world);
  void upgrade_for_queues(World& world);
  void settle_queues(World& world);
  // chaos_servers.cpp
  void change_servers(World& world, Rng& rng, Dose dose);
  void draw_change(World& world, Rng& rng, ServerChange& change);
  void drain_all(World& world, const ServerChange& change, bool drained);
  void try_change(World& world, const ServerChange& change, int tries);
  void servers_are_others(World& world, const Renumbering& numbers);
  // chaos_members.cpp
  void change_members(World& world, Rng& rng, Dose dose);
  void lose_member(World& world, Rng& rng, AgentId member);
  void hand_over(World& world, AgentId partition);
  void hand_over_in(World& world, AgentId partition, Duration wait);
  void exchange_key(World& world, Rng& rng, Dose dose);
  void spread_list(World& world, Rng& rng, NodeId of);
  [[nodiscard]] bool near_misled(const World& world, NodeId node) const;

  void heal(World& world);
  void turn_knobs();
  [[nodiscard]] Duration outage(Rng& rng) const;
  [[nodiscard]] NodeId any(Rng& rng) const { return pick(rng, nodes_.size()); }
  [[nodiscard]] NodeId any_server(Rng& rng) const { return pick(rng, nodes_.size() - clients_); }
  [[nodiscard]] std::uint32_t any_client(Rng& rng) const {
    return clients_ == 1 ? 0 : rng.below(clients_);
  }
  [[nodiscard]] NodeId pick(Rng& rng, std::size_t most) const {
    return nodes_[rng.below(static_cast<std::uint32_t>(most))];
  }
  [[nodiscard]] bool is_agent(NodeId node) const { return node.value <= agents_; }
  [[nodiscard]] static bool is_client(NodeId node) { return node.value >= kFirstClient; }
  [[nodiscard]] static std::uint32_t executor_of(NodeId node) {
    return node.value - kFirstExecutor;
  }

  std::uint32_t agents_, executors_each_, clients_ = 1;
  Instant end_;
  Rng rng_, leases_;
  std::vector<State> states_;
  /// Those of `states_` that are asked at every event or frame, found once.
  struct Often {
    State *kill_agents, *kill_executors, *kill_clients, *lie, *corrupt, *pick_on_kinds;
  } often_{};
  std::vector<NodeId> nodes_;  // agents, executors, clients
  ChaosKnobs knobs_;
  Manners manners_;
  NetworkModel network_;
  std::uint32_t until_agent_dies_ = 0, until_executor_dies_ = 0, until_client_dies_ = 0;  // events
  std::set<NodeId> down_;
  std::set<std::pair<Place, Place>> cuts_;
  std::map<std::uint32_t, std::vector<Place>> racks_cut_;  // by region
  std::uint32_t regions_ = 0;                              // that there have been
  std::set<NodeId> liars_;
  struct Copy {
    World::Backup of;
    Instant outlived =
        kNever;  ///< more had been written than it has, and since then others heard it
  };
  std::map<NodeId, Copy> backups_;
  std::set<NodeId> set_back_;  ///< executors on old copies that have not been told so
  std::optional<Loss> loss_;
  bool owner_lost_ = false;  // once in a run: it takes most of it
  std::set<ServerId> servers_gone_;
  std::set<GpuId> bad_gpus_;    // ever
  std::set<ServerId> drained_;  // ever
  std::optional<QueueDraw> queues_;
  QueueTree wanted_queues_;     // that an operator has said last; version 0: none yet
  bool saying_queues_ = false;  // until they are in force
  bool changing_servers_ = false;
  std::uint32_t new_servers_ = 0;                       // changes that were made
  std::uint32_t named_ = 0;                             // servers that came
  std::map<std::string, std::set<std::uint32_t>> had_;  // numbers of GPUs, by server: none twice
  FlockMembers members_;
  std::map<PartitionId, AgentId> serving_;  // by an agent that is not its own
  double corrupts_ = 0;
  double rare_meets_ = 0;  ///< how likely a fault is for the first frame of its kind; 0: off
  std::array<std::uint32_t, std::variant_size_v<MessageKinds>> said_{};  ///< frames of each kind
  std::vector<std::vector<std::byte>> seen_;  // frames that may come again in the wrong place
  std::vector<std::byte> old_digest_;
  Codec codec_;
  const Topology* wrong_ = nullptr;
  FaultCounts counts_;
  bool healed_ = false;
};

}  // namespace starling
