// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/token_book.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/limits.h"
#include "base/secret_file.h"
#include "base/visible.h"
#include "launch/system/dates.h"
#include "launch/system/files.h"
#include "launch/system/json_fields.h"
#include "launch/system/text.h"
#include "store/sqlite/lock_file.h"

namespace starling {
namespace {

constexpr std::string_view kTokenPrefix = "starling_";
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kIdDigits = 8;
constexpr std::uint64_t kLastSecond = 253'402'300'799;  // of the year 9999
constexpr std::size_t kMostTokens = 10'000;
// Ten seconds: a change takes some milliseconds.
constexpr auto kLockPause = std::chrono::milliseconds(20);
constexpr int kLockTries = 500;

std::string hex_of(const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

std::string sha256_of(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return hex_of(digest.data(), digest.size());
}

std::uint64_t to_seconds(Date date) {
  const auto s = std::chrono::floor<std::chrono::seconds>(date.time_since_epoch()).count();
  return s < 0 ? 0 : static_cast<std::uint64_t>(s);
}
Date from_seconds_of(std::uint64_t s) {
  return Date{std::chrono::seconds(static_cast<std::int64_t>(s))};
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_name(const std::string& user) {
  return !user.empty() && user.size() <= Limits{}.name_bytes && is_visible_line(user);
}

}  // namespace

const char* name_of(CallerRole role) noexcept {
  switch (role) {
    case CallerRole::viewer:
      return "viewer";
    case CallerRole::user:
      return "user";
    case CallerRole::operator_:
      return "operator";
    case CallerRole::anonymous:
      break;
  }
  return "anonymous";
}

std::optional<CallerRole> caller_role(std::string_view name) {
  for (const CallerRole role : {CallerRole::viewer, CallerRole::user, CallerRole::operator_})
    if (name == name_of(role)) return role;
  return std::nullopt;
}

Result<TokenBook> TokenBook::read(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return TokenBook();
  if (auto secret = read_secret(file); !secret) return secret.error();
  return read_json_file<TokenBook>(file, [](const nlohmann::json& json) -> Result<TokenBook> {
    TokenBook book;
    const JsonFields whole(json);
    std::size_t n = 0;
    for (const nlohmann::json& one : whole.list("tokens")) {
      const JsonFields fields(one, "tokens[" + std::to_string(n++) + "].");
      TokenEntry entry;
      entry.sha256 = fields.text("sha256");
      if (!is_sha256(entry.sha256)) fields.wrong("sha256", "has to be 64 hex digits");
      entry.id = entry.sha256.substr(0, kIdDigits);
      entry.user = fields.text("user");
      if (!is_name(entry.user)) fields.wrong("user", "has to be a user's name");
      const auto role = caller_role(fields.text("role"));
      if (!role) fields.wrong("role", "has to be viewer, user or operator");
      entry.role = *role;
      entry.made = from_seconds_of(fields.whole("made", kLastSecond));
      entry.expires = from_seconds_of(fields.whole("expires", kLastSecond));
      book.entries_.push_back(std::move(entry));
    }
    return book;
  });
}

Status TokenBook::write(const std::filesystem::path& file) const {
  nlohmann::json tokens = nlohmann::json::array();
  for (const TokenEntry& entry : entries_) {
    tokens.push_back({{"sha256", entry.sha256},
                      {"user", entry.user},
                      {"role", name_of(entry.role)},
                      {"made", to_seconds(entry.made)},
                      {"expires", to_seconds(entry.expires)}});
  }
  const nlohmann::json all{{"tokens", tokens}};
  return durably(file, write_text(file, all.dump(1) + "\n", 0600));
}

Status TokenBook::change(const std::filesystem::path& file,
                         const std::function<Status(TokenBook&)>& how) {
  const std::filesystem::path name = file.string() + ".lock";
  auto lock = LockFile::acquire(name);
  for (int n = 0; n < kLockTries && !lock && lock.error().code == Errc::conflict; ++n) {
    std::this_thread::sleep_for(kLockPause);
    lock = LockFile::acquire(name);
  }
  if (!lock && lock.error().code == Errc::conflict)
    return {Errc::busy, file.string() + ": another command has been changing it for ten seconds"};
  if (!lock) return lock.error();
  // A user that can open it can keep all others from revoking a token.
  std::error_code ignored;
  std::filesystem::permissions(
      name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
  auto book = read(file);
  if (!book) return book.error();
  if (Status s = how(book.value()); !s.ok()) return s;
  return book.value().write(file);
}

Result<std::string> TokenBook::add(const std::string& user, CallerRole role, Date now,
                                   Date expires) {
  if (!is_name(user))
    return {Errc::invalid, "a user's name has 1 to " + std::to_string(Limits{}.name_bytes) +
                               " bytes and no control characters"};
  if (entries_.size() >= kMostTokens)
    return {Errc::busy, "there are " + with_commas(kMostTokens) + " tokens; revoke some"};
  std::array<unsigned char, kTokenBytes> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return {Errc::io, "the system has no random numbers"};
  const std::string token = std::string(kTokenPrefix) + hex_of(random.data(), random.size());
  const std::string sha256 = sha256_of(token);
  entries_.push_back({sha256.substr(0, kIdDigits), sha256, user, role, now, expires});
  return token;
}

Status TokenBook::remove(const std::string& id) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const TokenEntry& entry) { return entry.id == id; });
  if (at != entries_.end()) {
    entries_.erase(at);
    return done();
  }
  std::vector<std::string> ids;
  for (const TokenEntry& entry : entries_) ids.push_back(entry.id);
  return {Errc::not_found, "there is no token '" + id.substr(0, 64) + "'; there are " +
                               (ids.empty() ? "none" : joined(ids, ", "))};
}

std::optional<Caller> TokenBook::caller(std::string_view token, Date now) const {
  const std::string sha256 = sha256_of(token);
  std::optional<Caller> found;
  for (const TokenEntry& entry : entries_) {
    // Compared in constant time, though what is compared is a digest already.
    if (CRYPTO_memcmp(entry.sha256.data(), sha256.data(), sha256.size()) != 0) continue;
    if (now < entry.expires)
      found = Caller{entry.user, entry.role, "token " + entry.id, entry.expires};
  }
  return found;
}

std::optional<std::chrono::seconds> parse_lifetime(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const auto n = parse_whole(text.substr(0, text.size() - 1));
  const std::uint64_t unit = unit_seconds(text.back());
  constexpr std::uint64_t kMost = 3653ULL * 86'400;
  if (!n || unit == 0 || *n == 0 || *n > kMost / unit) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(*n * unit));
}

}  // namespace starling
