// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// key=value options of `--policy NAME:key=value,...`.
using PolicyOptions = std::map<std::string, std::string>;

/// One option of a policy, as the policy's factory declares it where it reads it. Help, docs and
/// completion are made of these.
struct PolicyOption {
  enum class Type : std::uint8_t { choice, number, file };
  std::string name;
  Type type = Type::choice;
  std::vector<std::string> values = {};  ///< of a choice
  double low = 0, high = 0;              ///< of a number; high may be infinite
  std::string otherwise = {};            ///< the default, as it would be written; empty: none
  std::string help = {};                 ///< what it does, for people; may be empty

  /// "skip|strict" with the default first, "0.25 (0 to 1000)", "FILE".
  [[nodiscard]] std::string value_text() const;
};

/// Declares a policy's options and reads what was given, one by one; what is wrong is read as the
/// default. After the last one `status()` is the first thing that is wrong: a value out of range,
/// or a key that was not asked for (it lists those there are). Whatever the values are, the same
/// options have to be asked for.
class OptionReader {
 public:
  OptionReader(std::string_view policy, const PolicyOptions& options)
      : policy_(policy), options_(options) {}

  /// One of `values`; the first of them unless given.
  [[nodiscard]] std::string choice(std::string_view key, std::span<const std::string_view> values,
                                   std::string_view help);
  [[nodiscard]] std::string choice(std::string_view key,
                                   std::initializer_list<std::string_view> values,
                                   std::string_view help) {
    return choice(key, std::span(values.begin(), values.size()), help);
  }
  /// In [low, high]; `otherwise` unless given.
  [[nodiscard]] double number(std::string_view key, double otherwise, double low, double high,
                              std::string_view help);
  /// The name of a file; empty unless given.
  [[nodiscard]] std::string file(std::string_view key, std::string_view help);
  [[nodiscard]] Status status() const;
  [[nodiscard]] const std::vector<PolicyOption>& declared() const noexcept { return declared_; }

 private:
  void fail(std::string message);
  const std::string* find(PolicyOption option);

  std::string policy_;
  const PolicyOptions& options_;
  std::vector<PolicyOption> declared_;
  std::string first_error_;
};

/// The closest of `names` to `text`, or empty when none is close. For "did you mean".
[[nodiscard]] std::string closest(std::string_view text, const std::vector<std::string>& names);

}  // namespace starling
