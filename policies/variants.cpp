// SPDX-License-Identifier: Apache-2.0
#include "policies/variants.h"

namespace starling {
namespace {

PolicyVariant variant_of(const PolicyRegistry::Entry& entry, const PolicyOptions& options) {
  OptionReader reader(entry.facts.name, options);
  const auto made = entry.factory(reader);
  const PolicyFacts& facts = made ? made.value()->facts() : entry.facts;
  return {.may = powers_of(facts), .knows = facts.lengths};
}

}  // namespace

std::string quick_form(const std::string& policy) {
  return policy == "pollux" ? policy + ":population=8,generations=4" : policy;
}

std::vector<PolicyVariant> variants_of(const PolicyRegistry::Entry& entry) {
  std::vector<PolicyVariant> variants{variant_of(entry, {})};
  for (const PolicyOption& option : entry.options()) {
    for (const std::string& value : option.values) {
      PolicyVariant variant = variant_of(entry, {{option.name, value}});
      if (variant.may == variants.front().may && variant.knows == variants.front().knows) continue;
      variant.option = option.name;
      variant.value = value;
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

}  // namespace starling
