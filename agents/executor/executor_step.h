// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agents/executor/executor_state.h"

namespace starling {

/// One step of an executor: the state, the instant and where the outcome goes. Orders count from
/// its partition's owner only; Executor::step() is the way in.
struct ExecutorStep {
  ExecutorState& s;
  Instant now;
  ExecutorOutput& out;

  [[nodiscard]] NodeId owner() const { return agent_node(s.config.owner); }
  [[nodiscard]] bool beats() const { return s.config.timers.heartbeat < Duration::max(); }
  void tell(Message message) { out.send.push_back({owner(), std::move(message)}); }

  // executor_run.cpp: what runs, and how it ends. What a repeat or a latecomer does stands at each.
  void on(const Launch& launch);
  void on(const Kill& kill);
  void on(const ExitedAck& ack);
  void on(const InventoryRequest& request);
  void exited(const Exit& exit);
  [[nodiscard]] bool admit(const Fence& fence);
  [[nodiscard]] bool agree(std::uint64_t theirs);
  [[nodiscard]] std::string why_not(const Launch& launch) const;
  void stop(Run& run, const ExitStatus& why);
  void finish(Run& run);
  void forget(AttemptId attempt, Duration served);
  void tell_exited(Run& run);

  // time_limit.cpp: how long an attempt may run
  void watch_limit(AttemptId attempt, Run& run);
  void at_limit(AttemptId attempt, Run& run);
  void measured(const Progress& progress);

  // executor_owner.cpp: whether the owner still wants that, and time.
  void begin();
  void tick();
  void receive(const Received& event);
  void on(const Welcome& welcome);
  void on(const Goodbye& goodbye);
  void on(const AttemptAnswer& answer);
  void on(const Ping& ping) { tell(pong(ping)); }
  void on(const Pong& pong);
  void on(const GpuHealthSeen& seen);
  void on(const ReadOutput& read) {
    if (out.read.size() < ExecutorOutput::kMostReads) out.read.push_back(read);
  }
  template <class Other>
  void on(const Other&) {
    ++s.refused_frames;
  }
  void beat();
  void report();
  [[nodiscard]] Pong pong(const Ping& ping) const;
  void ping();
  void saw(const SickGpus& now_sick);
  void tell_health();
  void sweep();
  [[nodiscard]] Instant said_at_the_latest() const;
  [[nodiscard]] Instant wanted(const Run& run) const;
  [[nodiscard]] Instant until(const Run& run) const;
  void write_wanted(AttemptId attempt, Run& run);
  void keep_wanted(AttemptId attempt, Run& run);
};

}  // namespace starling
