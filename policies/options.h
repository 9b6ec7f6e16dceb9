#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policies/registry.h"

namespace starling {

/// Reads a policy's options one by one and remembers which there are. After the last one `status()`
/// is the first thing that is wrong: a value out of range, or a key that nobody asked for (it lists
/// those there are).
class OptionReader {
 public:
  OptionReader(std::string_view policy, const PolicyOptions& options)
      : policy_(policy), options_(options) {}

  /// One of `values`; the first of them unless given.
  [[nodiscard]] std::string choice(std::string_view key,
                                   std::initializer_list<std::string_view> values);
  /// In [low, high]; `otherwise` unless given.
  [[nodiscard]] double number(std::string_view key, double otherwise, double low, double high);
  /// The name of a file; empty unless given.
  [[nodiscard]] std::string file(std::string_view key);
  [[nodiscard]] Status status() const;

 private:
  void fail(std::string message);
  const std::string* find(std::string_view key);

  std::string policy_;
  const PolicyOptions& options_;
  std::vector<std::string> known_;
  std::string first_error_;
};

/// The closest of `names` to `text`, or empty when none is close. For "did you mean".
[[nodiscard]] std::string closest(std::string_view text, const std::vector<std::string>& names);

}  // namespace starling
