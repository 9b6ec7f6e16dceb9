// SPDX-License-Identifier: Apache-2.0
// One executor under arbitrary commands, of its owner and of others, and its processes beside it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "agents/executor/executor_state.h"
#include "base/check.h"
#include "store/record_codec.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/targets.h"
#include "topology/generate/generate.h"

namespace starling::fuzz {
namespace {

using Key = std::pair<AttemptId, ServerId>;

/// The executor of servers 1 and 2 of four with two GPUs each, and what it started.
class Bench {
 public:
  explicit Bench(Script& script) : script_(script), topology_(flat()) {
    config_.me = executor_node(0);
    config_.owner = AgentId{0};
    config_.servers = {1, 3};
    live();
  }

  void cycle() {
    switch (script_.below(12)) {
      case 0:
      case 1:
      case 2:
        return command(launch());
      case 3:
        return command(Kill{attempt(), fence()});
      case 4:
        return command(ExitedAck{attempt(), PartitionId{0}});
      case 5:
        return command(InventoryRequest{fence()});
      case 6:
        return command(Welcome{fence()});
      case 7:
      case 8:
        return end();
      case 9:
        now_ += std::chrono::milliseconds(1LL << script_.below(20));
        return step(Tick{});
      case 10:
        return step(Progress{attempt(), std::chrono::seconds(script_.below(9)), 1});
      default:
        return restart();
    }
  }

 private:
  static Topology flat() {
    GeneratorOptions options;
    options.servers = 4;
    options.gpus_per_server = 2;
    return generate_flat(options).value();
  }

  AttemptId attempt() { return {JobId{0, 1 + script_.below(4)}, Epoch{1}, 1 + script_.below(3)}; }
  Fence fence() {
    return {PartitionId{script_.below(16) == 0 ? 1U : 0U}, Epoch{1 + script_.below(4)}};
  }
  Placement gpus() {
    Placement some;
    for (std::uint32_t bits = script_.below(256), g = 0; bits > 0; bits >>= 1U, ++g) {
      if ((bits & 1U) != 0) some.push_back(GpuId{g});
    }
    return some;
  }
  Launch launch() {
    Launch launch;
    launch.attempt = attempt();
    launch.fence = fence();
    launch.spec.id = launch.attempt.job;
    launch.spec.gpus_per_worker = script_.below(3);
    const Placement all = gpus();
    launch.gang = {{PartitionId{0}, all}};
    if (script_.below(8) == 0) launch.gang.push_back({PartitionId{1}, {GpuId{script_.below(200)}}});
    for (const GpuId gpu : all) {
      if (gpu.value >= 2 && gpu.value < 6) launch.here.push_back(gpu);
    }
    if (script_.below(8) == 0) launch.here = gpus();
    if (script_.below(16) == 0) std::reverse(launch.here.begin(), launch.here.end());
    return launch;
  }

  template <class M>
  void command(const M& message) {
    const bool stranger = script_.below(8) == 0;
    const NodeId from = agent_node(AgentId{stranger ? 1U : 0U});
    const Epoch before = core_->state().epoch;
    bool stale = stranger;
    if constexpr (requires { message.fence; }) {
      stale = stale || message.fence.epoch < before || message.fence.partition != PartitionId{0};
    }
    step(Received{from, message});
    if (!stale) return;
    // The fence: a node with no say, or an old one, gets nothing done.
    STARLING_CHECK(commands_.empty() && core_->state().epoch == before);
  }

  void live() {
    ++config_.incarnation.value;
    std::vector<Record> recovered;
    for (const auto& bytes : journal_) recovered.push_back(decode_record(bytes).value());
    core_.emplace(config_, topology_, recovered);
    // It believes in nothing that does not run, but for what it has not been told of.
    for (const LaunchSpec& part : core_->running()) {
      if (!running_.contains({part.attempt, part.server})) {
        step(Exit{part.attempt, part.server, {0, true, "gone"}, Duration{0}});
      }
    }
    step(Tick{});
  }

  void restart() {
    const Epoch epoch = core_->state().epoch;
    if (script_.below(2) == 1) {
      journal_.clear();
      keep(core_->snapshot());
    }
    const std::uint32_t machine = script_.below(4);
    if (machine == 0) running_.clear();
    live();
    STARLING_CHECK(core_->state().epoch >= epoch);
    std::size_t known = 0;
    for (const LaunchSpec& part : core_->running()) {
      known += running_.contains({part.attempt, part.server}) ? 1 : 0;
    }
    STARLING_CHECK(known == running_.size());  // every process is of a part
  }

  void end() {
    if (running_.empty()) return;
    auto at = running_.begin();
    std::advance(at, script_.below(static_cast<std::uint32_t>(running_.size())));
    const Exit exit{at->first.first,
                    at->first.second,
                    {static_cast<std::int32_t>(script_.below(2)), script_.below(4) == 0, {}},
                    std::chrono::seconds(script_.below(9))};
    running_.erase(at);
    step(exit);
  }

  void keep(const std::vector<Record>& records) {
    for (const Record& record : records) encode_record(record, journal_.emplace_back());
  }

  void step(const ExecutorEvent& event) {
    ExecutorOutput out;
    const Epoch before = core_->state().epoch;
    core_->step(now_, event, out);
    STARLING_CHECK(core_->state().epoch >= before);
    keep(out.persist);
    commands_ = out.run;
    for (const RunCommand& command : out.run) {
      const auto* launch = std::get_if<LaunchSpec>(&command);
      if (launch == nullptr) continue;
      STARLING_CHECK(!ever_.contains({launch->attempt, launch->server}));
      ever_.insert({launch->attempt, launch->server});
      for (const auto& [key, used] : running_) {
        for (const GpuId gpu : launch->gpus) {
          STARLING_CHECK(std::find(used.begin(), used.end(), gpu) == used.end());
        }
      }
      running_.emplace(Key{launch->attempt, launch->server}, launch->gpus);
    }
    for (const Send& send : out.send) {
      const auto* killed = std::get_if<Killed>(&send.message);
      if (killed == nullptr) continue;
      for (const auto& [key, used] : running_) STARLING_CHECK(key.first != killed->attempt);
    }
  }

  Script& script_;
  Topology topology_;
  ExecutorConfig config_;
  Instant now_{};
  std::optional<Executor> core_;
  std::vector<std::vector<std::byte>> journal_;
  std::map<Key, Placement> running_;
  std::set<Key> ever_;
  std::vector<RunCommand> commands_;
};

}  // namespace

void executor(FuzzBytes bytes) {
  Script script(bytes);
  Bench bench(script);
  for (int n = 0; n < 300 && script.more(); ++n) bench.cycle();
}

}  // namespace starling::fuzz
