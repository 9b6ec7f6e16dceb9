// SPDX-License-Identifier: Apache-2.0
#include "python/environment/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace starling {
namespace {

constexpr std::size_t kStackBytes = 1U << 20U, kGuardBytes = 4096;

// What the address sanitizer wants to know: which stack comes next, and which one that was.
void leaving([[maybe_unused]] void** fake, [[maybe_unused]] const void* to,
             [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake, to, size);
#endif
}
void arrived([[maybe_unused]] void* fake, [[maybe_unused]] const void** from,
             [[maybe_unused]] std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, from, size);
#endif
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  void* const mapped = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(mapped);
  mprotect(stack_, kGuardBytes, PROT_NONE);  // stacks grow downwards
}

Fiber::~Fiber() {
  STARLING_CHECK(!begun_ || ended_);
  munmap(stack_, kStackBytes + kGuardBytes);
}

bool Fiber::resume() {
  STARLING_CHECK(!ended_);
  if (!begun_) {
    begun_ = true;
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_ + kGuardBytes;
    inside_.uc_stack.ss_size = kStackBytes;
    inside_.uc_link = nullptr;
    // makecontext() hands on ints alone.
    const auto me = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                static_cast<unsigned>(me >> 32U), static_cast<unsigned>(me));
  }
  void* fake = nullptr;
  leaving(&fake, stack_ + kGuardBytes, kStackBytes);
  swapcontext(&caller_, &inside_);
  arrived(fake, nullptr, nullptr);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return !ended_;
}

void Fiber::suspend() {
  leaving(&fake_, caller_stack_, caller_size_);
  swapcontext(&inside_, &caller_);
  arrived(fake_, &caller_stack_, &caller_size_);
}

void Fiber::enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32U) | low)->run();
}

void Fiber::run() noexcept {
  arrived(nullptr, &caller_stack_, &caller_size_);
  try {
    body_();
  } catch (...) {
    thrown_ = std::current_exception();
  }
  ended_ = true;
  leaving(nullptr, caller_stack_, caller_size_);
  swapcontext(&inside_, &caller_);
}

}  // namespace starling
