// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace starling {

/// What kind of wrong it is, to branch on; the message is for people.
enum class Errc {
  invalid,      ///< malformed or out of range
  not_found,    ///< names something that does not exist
  fenced,       ///< carries an epoch that has been superseded
  conflict,     ///< what it asks for is taken
  expired,      ///< the hold lapsed or was released
  busy,         ///< a limit is reached; try later
  not_ready,    ///< still recovering; ask again
  unsupported,  ///< understood, but not offered here
  io,           ///< the operating system refused
};

struct Error {
  Errc code = Errc::invalid;
  std::string message;
};

/// A value or the reason why there is none. For everything that comes from a peer, a user or a
/// disk.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: conversion is the point
  Result(Error error) : state_(std::move(error)) {}  // NOLINT
  Result(Errc code, std::string message) : state_(Error{code, std::move(message)}) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & { return STARLING_CHECK(ok()), std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return STARLING_CHECK(ok()), std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return STARLING_CHECK(ok()), std::get<0>(std::move(state_)); }
  [[nodiscard]] const Error& error() const { return STARLING_CHECK(!ok()), std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
inline Status done() { return std::monostate{}; }

}  // namespace starling
