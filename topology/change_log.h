// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace starling {

/// Which members of a set changed last, for those that follow it at a cost that goes with what
/// changed. A ring remembers the newest; one that has fallen further behind compares everything.
///
/// A copy has a life of its own: it remembers nothing, and no mark of the original is one of it.
class ChangeLog {
 public:
  /// A moment in the life of one log.
  class Mark {
    friend class ChangeLog;
    std::shared_ptr<const char> whose_;
    std::uint64_t changes_ = 0;
  };

  /// Remembers at least `changes` changes.
  explicit ChangeLog(std::uint32_t changes = 64)
      : ring_(std::bit_ceil(changes)), life_(std::make_shared<const char>()) {}
  ChangeLog(const ChangeLog& other)
      : ring_(other.ring_.size()), life_(std::make_shared<const char>()) {}
  ChangeLog& operator=(const ChangeLog& other) { return *this = ChangeLog(other); }
  ChangeLog(ChangeLog&&) = default;
  ChangeLog& operator=(ChangeLog&&) = default;
  ~ChangeLog() = default;

  void note(std::uint32_t member) noexcept { ring_[changes_++ & (ring_.size() - 1)] = member; }
  [[nodiscard]] Mark mark() const {
    Mark mark;
    mark.whose_ = life_;
    mark.changes_ = changes_;
    return mark;
  }
  /// Calls f with what changed since, oldest first, repeats included. False, and no call, if that
  /// is not known.
  template <class F>
  [[nodiscard]] bool since(const Mark& mark, F f) const {
    if (mark.whose_ != life_ || changes_ - mark.changes_ > ring_.size()) return false;
    for (std::uint64_t i = mark.changes_; i != changes_; ++i) f(ring_[i & (ring_.size() - 1)]);
    return true;
  }

 private:
  std::vector<std::uint32_t> ring_;  // a power of two
  std::shared_ptr<const char> life_;
  std::uint64_t changes_ = 0;
};

}  // namespace starling
