// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace starling {

/// Known mistakes, each in one line beside the right one, to see that the tests find them:
/// docs/reliability.md, "Planted bugs". A program built with STARLING_PLANT has the one that the
/// environment variable STARLING_BUG names; in all others planted() is false at compile time.
enum class Bug : std::uint8_t {
  executor_ignores_epochs,      ///< a deposed owner's commands are obeyed
  epoch_compared_wrongly,       ///< the present epoch counts as an old one
  epoch_not_durable,            ///< an executor forgets the epoch with its life
  allocates_before_inventory,   ///< a successor offers GPUs whose executor has not answered
  inventory_of_any_epoch,       ///< an answer to an earlier owner is believed
  owner_without_tombstones,     ///< what was released can be reserved again
  executor_without_tombstones,  ///< what was killed can be launched again
  tombstone_dropped_early,      ///< only the last is kept
  next_attempt_at_once,         ///< without waiting for Released
  released_before_kill,         ///< said before the executor confirmed
  lapsed_hold_committed,        ///< a Commit that comes too late
  start_on_partial_commit,      ///< the first Committed is enough
  starting_not_durable,         ///< Start leaves without its record
  launched_freed_on_silence,    ///< the home does not answer, so the GPUs are given away
  successor_relaunches,         ///< from its journal, without asking
  release_not_repeated,         ///< draining tells each participant once
  orphan_query_missing,         ///< a forgotten hold is never asked about
  hold_never_lapses,            ///< as with a clock that stands still
  exit_acknowledged_early,      ///< before the job's end is durable
  exit_not_durable,             ///< an executor forgets an exit with its life
  part_lives_on,                ///< a gang's other processes are not stopped
  submit_accepted_twice,        ///< a repeat is a new job
  accepted_before_journal,      ///< acknowledged without a record
  foreign_share_not_durable,    ///< Committed is said without a record
  stale_digest_taken,           ///< an overtaken one replaces a newer one
  other_protocol_welcomed,      ///< a node of another version
  hidden_input,                 ///< a memory address decides
  sends_before_sync,            ///< messages leave before the write
  earlier_life_heard,           ///< a frame of a sender's former life is taken
  full_disk_ignored,            ///< a failed write counts as done
  checksum_ignored,             ///< a damaged row is read
  log_damage_ignored,           ///< SQLite's log may lose transactions in silence
  fenced_append_done,           ///< a write that another owner refused counts as done
  speaks_after_lease,           ///< an owner goes on when its lease has ended
  never_lapses,                 ///< the launcher is not told until when a part may live
  lease_from_answer,            ///< a lease is counted from when etcd's answer came
  read_without_renewing,        ///< a takeover reads its journal longer than its lease runs
  here_not_renumbered,          ///< an executor's journal keeps old numbers where servers changed
  gone_host_keeps_partitions,   ///< an agent that has left is to serve what it served
  old_key_heard,                ///< a key that was exchanged still is its node's
  launched_as_asked,            ///< an executor is not told how an attempt is to run
  hold_on_full_gpu,             ///< a gang may hold a GPU that is full
  memory_stops_agent,  ///< what a policy has learned, and no version can read, ends its agent
  dependency_ignored,  ///< a job starts before those that it waits for have ended
  offer_not_numbered,  ///< an answer to an earlier offer of a job is one to the present
  quota_of_any_ask,    ///< a home goes by an answer to an earlier ask
  quota_not_durable,   ///< a keeper hands out GPUs of a queue without a record
  quota_kept_in_ask    ///< a home asks, and still goes by all that it had
};

inline constexpr std::array<std::string_view, 48> kBugNames = {"executor_ignores_epochs",
                                                               "epoch_compared_wrongly",
                                                               "epoch_not_durable",
                                                               "allocates_before_inventory",
                                                               "inventory_of_any_epoch",
                                                               "owner_without_tombstones",
                                                               "executor_without_tombstones",
                                                               "tombstone_dropped_early",
                                                               "next_attempt_at_once",
                                                               "released_before_kill",
                                                               "lapsed_hold_committed",
                                                               "start_on_partial_commit",
                                                               "starting_not_durable",
                                                               "launched_freed_on_silence",
                                                               "successor_relaunches",
                                                               "release_not_repeated",
                                                               "orphan_query_missing",
                                                               "hold_never_lapses",
                                                               "exit_acknowledged_early",
                                                               "exit_not_durable",
                                                               "part_lives_on",
                                                               "submit_accepted_twice",
                                                               "accepted_before_journal",
                                                               "foreign_share_not_durable",
                                                               "stale_digest_taken",
                                                               "other_protocol_welcomed",
                                                               "hidden_input",
                                                               "sends_before_sync",
                                                               "earlier_life_heard",
                                                               "full_disk_ignored",
                                                               "checksum_ignored",
                                                               "log_damage_ignored",
                                                               "fenced_append_done",
                                                               "speaks_after_lease",
                                                               "never_lapses",
                                                               "lease_from_answer",
                                                               "read_without_renewing",
                                                               "here_not_renumbered",
                                                               "gone_host_keeps_partitions",
                                                               "old_key_heard",
                                                               "launched_as_asked",
                                                               "hold_on_full_gpu",
                                                               "memory_stops_agent",
                                                               "dependency_ignored",
                                                               "offer_not_numbered",
                                                               "quota_of_any_ask",
                                                               "quota_not_durable",
                                                               "quota_kept_in_ask"};

/// Whether this program was built with them.
[[nodiscard]] bool has_planted_bugs() noexcept;

#ifdef STARLING_PLANT
/// Aborts if STARLING_BUG names none of them.
[[nodiscard]] bool planted(Bug bug) noexcept;
#else
[[nodiscard]] constexpr bool planted(Bug) noexcept { return false; }
#endif

}  // namespace starling
