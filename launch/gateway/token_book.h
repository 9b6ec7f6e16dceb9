// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/gateway/caller.h"
#include "launch/system/dates.h"

namespace starling {

/// One who may use the gateway. The token itself is kept nowhere: only its SHA-256, as a token is
/// 256 random bits and so cannot be guessed from it.
struct TokenEntry {
  std::string id;      ///< the first eight digits of `sha256`, to name it by
  std::string sha256;  ///< 64 hex digits
  std::string user;
  CallerRole role = CallerRole::viewer;
  Date made, expires;
};

/// The tokens of a gateway: a JSON file that is this user's or root's alone, mode 0600.
class TokenBook {
 public:
  /// No file is a book without tokens. `invalid`: what is wrong with the file or its permissions.
  static Result<TokenBook> read(const std::filesystem::path& file);
  [[nodiscard]] Status write(const std::filesystem::path& file) const;
  /// Reads the file, has `how` change what is in it, and writes it: for one at a time, so that
  /// neither a new token nor a revocation is lost to another change. Errors of all three.
  static Status change(const std::filesystem::path& file,
                       const std::function<Status(TokenBook&)>& how);

  /// A new token, which cannot be told again. `invalid`: such a user there cannot be; `busy`:
  /// there are too many; `io`: the system has no random numbers.
  [[nodiscard]] Result<std::string> add(const std::string& user, CallerRole role, Date now,
                                        Date expires);
  /// Takes one out, by its id. `not_found` names those that there are.
  [[nodiscard]] Status remove(const std::string& id);
  [[nodiscard]] const std::vector<TokenEntry>& entries() const noexcept { return entries_; }
  /// The user of `token`. Nothing: of none, or it has expired.
  [[nodiscard]] std::optional<Caller> caller(std::string_view token, Date now) const;

 private:
  std::vector<TokenEntry> entries_;
};

/// How long from now: 30d, 12h, 45m, 90s; at most ten years. Nothing: it is none.
[[nodiscard]] std::optional<std::chrono::seconds> parse_lifetime(std::string_view text);

}  // namespace starling
