// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>

namespace starling {

/// A call that can stop in its middle, on a stack of its own, and be taken up again later. It runs
/// in the thread that resumes it, one at a time, so there is nothing to lock and nothing depends
/// on timing. Needs 1 MiB of address space, of which only what is used becomes memory.
class Fiber {
 public:
  /// Nothing of `body` runs before the first resume().
  explicit Fiber(std::function<void()> body);
  /// It has ended, or never begun: one given up in its middle has to end first.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on until it suspends (true) or ends (false). What the body throws comes out here, and it
  /// has ended.
  bool resume();
  /// Of the body: back to what has resumed it.
  void suspend();

  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  static void enter(unsigned high, unsigned low);
  void run() noexcept;

  std::function<void()> body_;
  std::byte* stack_ = nullptr;
  ucontext_t caller_{}, inside_{};
  std::exception_ptr thrown_;
  bool begun_ = false, ended_ = false;
  // Of the address sanitizer, which has to be told of each change of stacks.
  void* fake_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_size_ = 0;
};

}  // namespace starling
