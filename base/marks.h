// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace starling {

/// A place in the code that tests have to have passed: a counter with a name, known to all_marks()
/// also while it has never been passed. Counting is one load and one store without a lock, so
/// concurrent threads may lose a count.
class Mark {
 public:
  explicit Mark(const char* name) noexcept : name_(name), next_(first_) { first_ = this; }
  void hit() noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Every mark of the program with the number of passes. Marks of one name count together.
  [[nodiscard]] static std::map<std::string, std::uint64_t> all() {
    std::map<std::string, std::uint64_t> counts;
    for (const Mark* mark = first_; mark != nullptr; mark = mark->next_)
      counts[mark->name_] += mark->count_.load(std::memory_order_relaxed);
    return counts;
  }
  static void reset() noexcept {
    for (Mark* mark = first_; mark != nullptr; mark = mark->next_)
      mark->count_.store(0, std::memory_order_relaxed);
  }

 private:
  static inline constinit Mark* first_ = nullptr;
  const char* name_;
  Mark* next_;
  std::atomic<std::uint64_t> count_{0};
};

template <std::size_t N>
struct MarkName {
  constexpr MarkName(const char (&text)[N]) noexcept { std::copy_n(text, N, value); }  // NOLINT
  char value[N];
};
template <MarkName Name>
struct MarkOf {
  static inline Mark mark{Name.value};
};

}  // namespace starling

/// Counts that this place was passed: STARLING_MARK("owner: a late Reserve is refused").
#define STARLING_MARK(name) ::starling::MarkOf<name>::mark.hit()
