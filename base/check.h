// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// Prints what did not hold and where, then aborts. The process restarts and recovers from its
/// journal.
[[noreturn]] void check_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace starling

/// For our own invariants only; on in every build. Never for anything a peer, a user or a disk
/// sent: those get a Result.
#define STARLING_CHECK(expr) \
  ((expr) ? (void)0 : ::starling::check_failed(#expr, __FILE__, __LINE__))
