// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "policies/options.h"
#include "scheduling/policy.h"

namespace starling {

/// Declares and reads its options, always the same ones, and makes the policy. What is wrong with
/// an option is the registry's to tell.
using PolicyFactory = std::function<Result<std::unique_ptr<Policy>>(OptionReader&)>;

/// The same for a placement policy: its parts, of which the registry makes the policy.
struct PlacementSystem;
using PlacementFactory = std::function<Result<PlacementSystem>(OptionReader&)>;

/// Every policy by name. Filled in one place and handed down; no static registration.
class PolicyRegistry {
 public:
  /// Name taken: a broken invariant.
  void add(PolicyFacts facts, PolicyFactory factory);
  /// This and make_placement() are in policies/placement/placement_registry.cpp.
  void add_placement(PolicyFacts facts, PlacementFactory factory);
  /// Reads "NAME" or "NAME:key=value,...". `not_found` lists the names there are; `invalid` for an
  /// option the policy does not know or a value out of range.
  [[nodiscard]] Result<std::unique_ptr<Policy>> make(const std::string& text) const;
  /// The parts of a placement policy; `invalid` for any other.
  [[nodiscard]] Result<PlacementSystem> make_placement(const std::string& text) const;
  [[nodiscard]] Result<PlacementSystem> make_placement(const std::string& name,
                                                       const PolicyOptions& options) const;
  struct Entry {
    PolicyFacts facts;
    PolicyFactory factory;
    PlacementFactory placement;  ///< empty: it is none
    /// As the factory declares them, which makes a policy by default for it.
    [[nodiscard]] std::vector<PolicyOption> options() const;
  };
  [[nodiscard]] const std::map<std::string, Entry>& entries() const noexcept { return entries_; }

 private:
  /// The entry of "NAME:key=value,...", and what it says.
  struct Read {
    const Entry* entry = nullptr;
    PolicyOptions options;
  };
  [[nodiscard]] Result<Read> read(const std::string& text) const;
  [[nodiscard]] Result<const Entry*> find(const std::string& name) const;

  std::map<std::string, Entry> entries_;
};

/// All policies of this library.
[[nodiscard]] PolicyRegistry make_policy_registry();

}  // namespace starling
