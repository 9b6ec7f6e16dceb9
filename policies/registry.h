#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "policies/policy.h"

namespace starling {

/// key=value options of `--policy NAME:key=value,...`.
using PolicyOptions = std::map<std::string, std::string>;
using PolicyFactory = std::function<Result<std::unique_ptr<Policy>>(const PolicyOptions&)>;

/// Every policy by name. Filled in one place and handed down; no static registration.
class PolicyRegistry {
 public:
  /// Name taken: a broken invariant.
  void add(PolicyFacts facts, PolicyFactory factory, std::string options_help = "");
  /// Reads "NAME" or "NAME:key=value,...". `not_found` lists the names there are; `invalid` for an
  /// option the policy does not know or a value out of range.
  [[nodiscard]] Result<std::unique_ptr<Policy>> make(const std::string& text) const;
  struct Entry {
    PolicyFacts facts;
    std::string options_help;
    PolicyFactory factory;
  };
  [[nodiscard]] const std::map<std::string, Entry>& entries() const noexcept { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

/// All policies of this library.
[[nodiscard]] PolicyRegistry make_policy_registry();

}  // namespace starling
