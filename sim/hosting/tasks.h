// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <vector>

#include "base/time.h"

namespace starling {

/// Tasks of a simulated world, each written as if it had a thread of its own and could wait. Time
/// is virtual, and one task runs at a time, in the order of the instants that they wait for and, at
/// one instant, of their asking: equal worlds run equally. Each has a thread underneath, which runs
/// while it is its turn.
class Tasks {
  struct Task;

 public:
  /// A process: its tasks end together and stand still together.
  struct Group {
    std::uint32_t value = 0;
    friend auto operator<=>(const Group&, const Group&) = default;
  };
  /// Thrown by each wait of a task that is being ended; while that unwinds it, waits are over at
  /// once. A destructor that waits catches it.
  struct Ended {};

  Tasks();
  ~Tasks();  ///< ends all
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] Group new_group() noexcept { return {groups_++}; }
  void start(Group group, std::function<void()> body);
  /// Of no task; it does not wait.
  void at(Instant when, std::function<void()> what);
  /// All that happens before `until`, and time is `until` then.
  void run_until(Instant until);

  /// What one task waits for and others ring.
  class Bell {
   public:
    void ring();

   private:
    friend class Tasks;
    Tasks* tasks_ = nullptr;
    Task* waiting_ = nullptr;
  };

  // By the task that runs.
  void wait_until(Instant when);
  /// Until it rings.
  void wait_for(Bell& bell);
  /// It is being ended, and unwinds.
  [[nodiscard]] bool ending() const noexcept;

  /// Its tasks end, each at its present wait. Not by one of them.
  void end(Group group);
  /// Its tasks go on at `until`, whatever they wait for.
  void freeze(Group group, Instant until);

 private:
  struct Event {
    std::function<void()> what;
    Task* task = nullptr;
  };
  using Key = std::pair<Instant, std::uint64_t>;

  Key push(Instant when, Event event);
  void wake(Task& task, Instant when);
  void run(Task& task);
  void clean();

  Instant now_{};
  std::uint64_t order_ = 0;
  std::uint32_t groups_ = 0;
  std::map<Key, Event> events_;
  std::map<Group, Instant> frozen_;
  std::vector<std::unique_ptr<Task>> tasks_;
  Task* running_ = nullptr;
  std::binary_semaphore back_{0};
};

}  // namespace starling
