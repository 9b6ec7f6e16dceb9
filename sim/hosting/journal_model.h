// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/record.h"
#include "base/rng.h"

namespace starling {

/// What the journal of one partition has to hold, seen from outside: what was told. Records are
/// numbers, each written once. Answers say what is wrong; empty: nothing.
class JournalModel {
 public:
  static constexpr std::size_t kLargeBytes = 4000;  ///< of text in a large record
  using Batch = std::vector<std::uint64_t>;

  /// `batch` is being written by the owner of `epoch`.
  void writes(Epoch epoch, const Batch& batch);
  /// The write was said to be done.
  [[nodiscard]] std::string wrote(Epoch epoch, const Batch& batch);
  /// The owner of `epoch` has read all that there is.
  [[nodiscard]] std::string read(Epoch epoch, const std::vector<Record>& records);
  [[nodiscard]] std::uint64_t acknowledged() const noexcept { return told_; }

  /// A record that is `number`, now and then a large one.
  [[nodiscard]] static Record record(std::uint64_t number, bool large);

 private:
  std::vector<std::uint64_t> known_;      // in their order
  std::map<std::uint64_t, Batch> maybe_;  // by first number; whether they are there is not known
  Epoch last_read_;
  std::uint64_t told_ = 0;
};

}  // namespace starling
