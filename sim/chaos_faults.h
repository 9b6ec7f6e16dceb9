#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/chaos.h"

namespace starling {

/// The faults of one seed. Swarm testing (Groce 2012): each kind is off, mild or extreme for the
/// whole seed, so that a rare kind is not always drowned by the others. Outlives the world.
class ChaosFaults {
 public:
  enum class Dose : std::uint8_t { off, mild, extreme };

  ChaosFaults(std::uint32_t agents, std::uint32_t executors_each, Duration last, Rng rng);

  /// Scripts everything, and the healing at the end.
  void plan(World& world);
  /// To be called between two events: kills go by events, so that they hit inside of protocol steps
  /// and not only idle time.
  void between_events(World& world);
  [[nodiscard]] bool healed() const noexcept { return healed_; }
  [[nodiscard]] FaultCounts counts(World& world) const;

 private:
  [[nodiscard]] Dose draw();
  [[nodiscard]] Instant soon(Instant from, double mean_s);
  void repeat(World& world, const char* kind, Dose dose, void (ChaosFaults::*fault)(World&));
  void plan_network(World& world);
  void kill(World& world, bool an_agent, std::uint32_t which);
  void kill_rack(World& world);
  void kill_all_agents(World& world);
  void restart_all_executors(World& world);
  void take_over(World& world);
  void isolate(World& world);
  void halve(World& world);
  void cut_one_way(World& world);
  void swizzle(World& world);
  void clog(World& world);
  void cut(World& world, NodeId from, NodeId to, Duration lasts);
  void heal(World& world);
  [[nodiscard]] Duration outage();
  [[nodiscard]] NodeId any_node();

  std::uint32_t agents_, executors_each_;
  Instant end_;
  Rng rng_;
  std::vector<NodeId> nodes_;
  NetworkModel network_;
  Dose kills_ = Dose::off;
  std::uint32_t until_kill_ = 0;  // events
  std::set<std::uint32_t> agents_down_, executors_down_;
  std::set<std::pair<NodeId, NodeId>> cuts_;
  FaultCounts counts_;
  bool healed_ = false;
};

}  // namespace starling
