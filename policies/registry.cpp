// SPDX-License-Identifier: Apache-2.0
#include "policies/registry.h"

#include "base/check.h"
#include "policies/builtin.h"
#include "policies/options.h"

namespace starling {

std::vector<PolicyOption> PolicyRegistry::Entry::options() const {
  const PolicyOptions none;
  OptionReader reader(facts.name, none);
  (void)factory(reader);
  return reader.declared();
}

void PolicyRegistry::add(PolicyFacts facts, PolicyFactory factory) {
  const std::string name(facts.name);
  const bool added = entries_.emplace(name, Entry{facts, std::move(factory), {}}).second;
  STARLING_CHECK(added);
}

Result<const PolicyRegistry::Entry*> PolicyRegistry::find(const std::string& name) const {
  const auto entry = entries_.find(name);
  if (entry != entries_.end()) return &entry->second;
  std::vector<std::string> names;
  for (const auto& [known, ignored] : entries_) names.push_back(known);
  std::string message = "no policy '" + name.substr(0, 64) + "'; ";
  const std::string meant = closest(name, names);
  if (!meant.empty()) message += "did you mean '" + meant + "'? ";
  message += "there are: ";
  for (std::size_t i = 0; i < names.size(); ++i) message += (i == 0 ? "" : ", ") + names[i];
  return Error{Errc::not_found, message};
}

Result<PolicyRegistry::Read> PolicyRegistry::read(const std::string& text) const {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto entry = find(name);
  if (!entry) return entry.error();
  Read out{entry.value(), {}};
  std::size_t at = colon == std::string::npos ? text.size() : colon + 1;
  while (at < text.size()) {
    std::size_t end = text.find(',', at);
    if (end == std::string::npos) end = text.size();
    const std::string option = text.substr(at, end - at);
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{Errc::invalid,
                   "policy '" + name + "': '" + option.substr(0, 64) +
                       "' is no option; options are written key=value, separated by commas"};
    }
    if (!out.options.emplace(option.substr(0, equals), option.substr(equals + 1)).second) {
      return Error{Errc::invalid,
                   "policy '" + name + "': option " + option.substr(0, equals) + " is given twice"};
    }
    at = end + 1;
  }
  return out;
}

Result<std::unique_ptr<Policy>> PolicyRegistry::make(const std::string& text) const {
  const auto found = read(text);
  if (!found) return found.error();
  const auto& [entry, options] = found.value();
  OptionReader reader(entry->facts.name, options);
  auto policy = entry->factory(reader);
  if (const Status status = reader.status(); !status) return status.error();
  return policy;
}

PolicyRegistry make_policy_registry() {
  PolicyRegistry registry;
#define STARLING_ADD_POLICY(name) add_##name(registry);
  STARLING_POLICIES(STARLING_ADD_POLICY)
#undef STARLING_ADD_POLICY
  return registry;
}

}  // namespace starling
