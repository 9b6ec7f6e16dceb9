// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace starling {

/// What a net is told of an option, beside embeddings: the place of each number in a row. All
/// values are of the order of 1; times are log s / 12, counts log2 / 5. Shipped weights know this
/// order.
enum class Input : std::uint8_t {
  // The situation: the job, the queue and the partition; the same for all options of a decision.
  gang,            ///< GPUs that the job wants
  gang_part,       ///< the same, of the partition's
  waited,          ///< since it was submitted
  served,          ///< time that it has run so far
  queue_jobs,      ///< jobs that wait here (log / 6)
  queue_gpus,      ///< GPUs that they want, of the partition's (log)
  ahead_gpus,      ///< those of them that were asked about before it (log)
  free_part,       ///< of the GPUs
  running_jobs,    ///< for each GPU
  busy_part,       ///< of the GPUs
  work_left,       ///< of the job, guessed
  work_estimated,  ///< 1: by its user
  gpu_use,         ///< how busy the job's model keeps a GPU
  gradient_rate,   ///< what the model sends (log10 MiB/s / 4)
  types_differ,    ///< 1: the partition has GPUs of several types
  smaller_part,    ///< part of the queue that has smaller gangs

  // The option; all 0 but `waits` for waiting and for going to another agent, as it may wait there.
  waits,           ///< 1: it is no place
  own_speed,       ///< of the job's best
  unshared_speed,  ///< the same once no job shares its GPUs any more
  net_gain,        ///< GPU speed that it adds, less what others lose, of its best
  gain_lacking,    ///< what net_gain lacks to Features::kMinimumGain
  slowdown,        ///< of the job and of all others (log)
  inflicted_loss,  ///< GPU speed that others lose, for each of its GPUs
  slowest_other,   ///< speed of the slowest of the others, 1 at most
  is_tight,        ///< 1: CandidateKind::tight; so the four below
  is_rack,
  is_spread,
  is_beside,
  is_server,
  servers,        ///< that it is on
  racks_differ,   ///< 1: more than one rack
  sharer_served,  ///< the longest that one whose GPUs it shares has run
  sharer_left,    ///< the most work that one of them is guessed to have left
  sharer_gang,    ///< the largest gang of them
  sharer_size,    ///< the same beside the job's own
  left_free,      ///< GPUs that stay free on its servers, for each of those
  none_left,      ///< 1: none
  type_speed,     ///< of its GPU type, of the fastest there is
  alone_speed,    ///< of the job on the best GPUs that it could have

  // Crossed: products that a sum of the others cannot stand for.
  waits_queue_gpus,
  waits_free_part,
  waits_gang,
  waits_waited,
  waits_smaller_part,
  waits_work_left,
  shares_queue_gpus,  ///< shares: is_beside or is_server
  gain_queue_gpus,
  inflicted_queue_gpus,
  type_queue_gpus,
  shares_work_left,
  gain_work_left,
  inflicted_work_left,
  type_work_left,

  // Going to another agent; all 0 for other options.
  goes,              ///< 1: it does
  there_speed,       ///< alone on the type there, of the job's best
  there_starts,      ///< 1: GPUs enough are free there
  there_one_server,  ///< 1: and on one server
  there_free,        ///< free part of that type
  there_open,        ///< part of it that a second job may join
  there_queue,       ///< GPUs wanted there for each GPU (log)
  queue_gap,         ///< the same less what it is here
  forwards,          ///< homes that the job has left so far
  rule_faster,       ///< 1: lif would send it there although it could start here
  rule_waits,        ///< 1: lif would send it there if it waited here
};

[[nodiscard]] constexpr std::size_t index_of(Input input) noexcept {
  return static_cast<std::size_t>(input);
}

/// The numbers of one option by name.
class InputRow {
 public:
  /// Features::kOwn values, or more; they outlive this.
  explicit InputRow(std::span<float> values) : values_(values) {}
  [[nodiscard]] float& operator[](Input input) const { return values_[index_of(input)]; }
  void set(Input input, bool holds) const { (*this)[input] = holds ? 1.0F : 0.0F; }

 private:
  std::span<float> values_;
};

}  // namespace starling
