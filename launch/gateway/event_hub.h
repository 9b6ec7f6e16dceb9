// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "launch/gateway/http/byte_stream.h"

namespace starling {

/// Server-sent events to any number of watchers. What is said between two flushes goes out as one
/// piece, made once for all of them, so that a watcher costs one write a flush however much
/// happens. One thread.
class EventHub {
 public:
  /// `life` tells this gateway's events from those of an earlier one.
  explicit EventHub(std::string life) : life_(std::move(life)) {}

  /// Goes out with the next flush. `data` is one line.
  void say(const std::string& kind, const std::string& data);
  /// The same of one job of many. Where what a flush has of jobs would be more than kMostAtOnce
  /// bytes for all watchers together, none of it goes out: once in kSumEvery flushes they hear
  /// `jobs` instead, with how many changes they have to read up on.
  void say_of_job(const std::string& kind, const std::string& data);
  /// To be called at a steady pace. Hands out what was said, or a sign of life where nothing was
  /// for kQuiet flushes. Watchers that have gone or do not read are forgotten.
  void flush();
  /// A watcher: it hears what is said from now on, and before that what it has missed since the
  /// event `last_id` (empty: nothing); a `resync` instead where that is too long ago: it has to
  /// read all again. Null: there are `most` already.
  [[nodiscard]] std::shared_ptr<ByteStream> watch(const std::string& last_id, std::size_t most);
  [[nodiscard]] std::size_t watchers() const noexcept { return watchers_.size(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  void close();

  static constexpr std::size_t kRemembered = 4U << 20U;  ///< bytes of events for callers back again
  static constexpr std::size_t kMostWaiting = 4U << 20U;  ///< bytes for a watcher
  static constexpr int kQuiet = 150;
  static constexpr std::size_t kMostAtOnce = 4U << 20U;
  static constexpr int kSumEvery = 10;

 private:
  /// What was said goes out.
  void hand_out();
  void push(const ByteStream::Piece& piece);
  struct Pending {
    std::string text;
    bool of_job = false;
  };
  struct Said {
    std::uint64_t last = 0;  // number of its last event
    ByteStream::Piece piece;
  };

  std::string life_;
  std::uint64_t number_ = 0;
  std::vector<Pending> pending_;
  std::size_t pending_of_jobs_ = 0;  // bytes
  std::uint64_t summed_ = 0;         // changes that no watcher was told of yet
  int since_sum_ = kSumEvery;        // flushes
  std::deque<Said> said_;
  std::size_t said_bytes_ = 0;
  std::uint64_t forgotten_ = 0;  // events up to this one are in no piece of said_
  std::vector<std::shared_ptr<ByteStream>> watchers_;
  std::uint64_t dropped_ = 0;
  int quiet_ = 0;
};

}  // namespace starling
