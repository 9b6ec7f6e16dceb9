// SPDX-License-Identifier: Apache-2.0
// What a registry does with placement policies. Here and not in policies/registry.cpp, which stands
// before all rooms and knows none of them.
#include "policies/placement/placement_policy.h"
#include "policies/registry.h"

namespace starling {

void PolicyRegistry::add_placement(PolicyFacts facts, PlacementFactory factory) {
  add(facts, [factory](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    auto system = factory(reader);
    if (!system) return system.error();
    return std::unique_ptr<Policy>(std::make_unique<PlacementPolicy>(std::move(system).value()));
  });
  entries_.at(std::string(facts.name)).placement = std::move(factory);
}

Result<PlacementSystem> PolicyRegistry::make_placement(const std::string& text) const {
  const auto found = read(text);
  if (!found) return found.error();
  return make_placement(std::string(found.value().entry->facts.name), found.value().options);
}

Result<PlacementSystem> PolicyRegistry::make_placement(const std::string& name,
                                                       const PolicyOptions& options) const {
  const auto found = find(name);
  if (!found) return found.error();
  const Entry& entry = *found.value();
  if (!entry.placement) {
    std::string message = "policy '" + name + "' does not choose among places; these do: ";
    const char* between = "";
    for (const auto& [known, other] : entries_) {
      if (!other.placement) continue;
      message += between + known;
      between = ", ";
    }
    return Error{Errc::invalid, message};
  }
  OptionReader reader(entry.facts.name, options);
  auto system = entry.placement(reader);
  if (const Status status = reader.status(); !status) return status.error();
  return system;
}

}  // namespace starling
