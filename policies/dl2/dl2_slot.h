// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/elastic/division.h"
#include "policies/parts/tasks.h"

namespace starling {

/// What a net of DL2 sees at once: so many jobs, each with its type among those that the net knows.
struct Dl2Shape {
  std::uint32_t window = 20;
  std::vector<std::string> types;  ///< models; any other is a type more
  bool shared = false;             ///< one small net looks at each job (Dl2Head)

  /// Of each job beside its type: see Dl2Slot::encode().
  static constexpr std::size_t kNumbers = 6;
  [[nodiscard]] std::size_t width() const noexcept { return types.size() + 1 + kNumbers; }
  [[nodiscard]] std::size_t inputs() const noexcept { return window * width(); }
  /// Three for each job, and the last one: nothing more.
  [[nodiscard]] std::size_t actions() const noexcept { return 3 * std::size_t{window} + 1; }
  [[nodiscard]] std::size_t type_of(std::string_view model) const;
  friend bool operator==(const Dl2Shape&, const Dl2Shape&) = default;
};

/// One of DL2's incremental actions: a job gets one more of something.
enum class Dl2Kind : std::uint8_t { worker, server, both };
struct Dl2Action {
  std::size_t member = 0;  ///< of Dl2Slot
  Dl2Kind kind = Dl2Kind::worker;
  friend bool operator==(const Dl2Action&, const Dl2Action&) = default;
};

/// A job as a slot has it.
struct Dl2Member {
  const JobView* job = nullptr;
  std::uint32_t least = 1, most = 1;  ///< workers
  std::uint32_t most_servers = 0;     ///< 0: it does not train by them
  double slots = 0;                   ///< for which it has been in the system
  double left_slots = 0;              ///< GPU time that remains at the size asked for, in slots
  double left_part = 1;               ///< of all its work
  TaskCounts tasks;
};

/// A time slot of DL2 (arXiv 1909.06040, section 4) while it is shared out: first each job, in
/// order, gets the fewest workers that it can have and as many parameter servers, while there is
/// room; then tasks are added one by one. A worker takes its GPUs and CPUs, a server its CPUs.
/// Pure.
class Dl2Slot {
 public:
  /// `shares` in the order of the window; those that have workers already begin with these.
  /// `slot_s`: how long a slot is. `most`: jobs that there are to be seen; others get nothing.
  /// `servers`: of each share that has workers, its servers; empty: as many as it asks for.
  Dl2Slot(const Dl2Shape& shape, const ElasticCall& call, const ElasticCapacity& all,
          const ElasticCapacity& left, std::span<const ElasticShare> shares, double slot_s,
          std::size_t most, std::span<const std::uint32_t> servers = {});

  /// Workers and servers of those that have none yet.
  void begin();
  /// There is room, and the job has not all that it can have. Of a job without servers `both` is a
  /// worker, and nothing else is allowed; one that has no worker gets nothing.
  [[nodiscard]] bool allows(const Dl2Action& action) const;
  [[nodiscard]] bool allows_any() const;
  void take(const Dl2Action& action);
  [[nodiscard]] std::span<const Dl2Member> members() const noexcept { return members_; }

  /// The jobs in blocks of Dl2Shape::window, the last one filled up with zeros.
  [[nodiscard]] std::size_t blocks() const noexcept;
  [[nodiscard]] std::size_t block_of(const Dl2Action& action) const noexcept {
    return action.member / shape_->window;
  }
  /// inputs() numbers. Of a job: its type, one of all; the logarithm of 1 + slots in the system, of
  /// 1 + slots that remain; the part that remains; its dominant share of the partition; a quarter
  /// of its workers, and of its servers.
  void encode(std::size_t block, std::span<float> out) const;
  /// actions() bytes: 1 where allows(). The answer: what the neediest of these takes; while there
  /// is room for that, and none of its jobs gets anything, the block's mask stays as it is.
  ElasticCapacity mask(std::size_t block, std::span<std::uint8_t> out) const;
  [[nodiscard]] bool has_room(const ElasticCapacity& needs) const;
  /// The number that an action has in its block; the same way back, nothing for the last one.
  [[nodiscard]] std::size_t number_of(const Dl2Action& action) const noexcept;
  [[nodiscard]] std::optional<Dl2Action> action_of(std::size_t block, std::size_t number) const;

 private:
  [[nodiscard]] ElasticCapacity needs_of(const Dl2Member& member, TaskCounts more) const;
  [[nodiscard]] bool allows_any_of(std::size_t member) const;
  void add(Dl2Member& member, TaskCounts more);

  const Dl2Shape* shape_;
  ElasticCapacity all_, left_;
  std::vector<Dl2Member> members_;
  std::size_t open_from_ = 0;  // those before it get nothing more
};

}  // namespace starling
