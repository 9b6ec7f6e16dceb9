// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/result.h"

namespace starling {

/// As a Python exception with the same message: ValueError for what was given, OSError for what the
/// operating system refuses, LookupError for what is not there, TimeoutError where no agent answers
/// in time, RuntimeError for all else.
[[noreturn]] void raise(const Error& error);
/// Of a call whose `not_found` names what was given, a policy say: a ValueError then.
[[noreturn]] void raise_input(const Error& error);

template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}
template <class T>
T value_of_input(Result<T> result) {
  if (!result) raise_input(result.error());
  return std::move(result).value();
}

}  // namespace starling
