#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/wiring.h"

namespace starling {
namespace {

int list_policies(bool as_json) {
  const PolicyRegistry policies = simulated_policies();
  if (as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, entry] : policies.entries()) {
      const PolicyFacts& f = entry.facts;
      list.push_back({{"name", name},
                      {"family", std::string(1, static_cast<char>(f.family))},
                      {"summary", f.summary},
                      {"options", entry.options_help},
                      {"preemptive", f.preemptive},
                      {"elastic", f.elastic},
                      {"shares_gpus", f.shares_gpus},
                      {"needs_durations", f.needs_durations},
                      {"needs_model_file", f.needs_model_file}});
    }
    std::printf("%s\n", nlohmann::json{{"schema", 1}, {"policies", list}}.dump(1).c_str());
    return kDone;
  }
  for (const auto& [name, entry] : policies.entries()) {
    std::printf("%-14s %c  %s\n", name.c_str(), static_cast<char>(entry.facts.family),
                std::string(entry.facts.summary).c_str());
    if (!entry.options_help.empty())
      std::printf("%-17s options: %s\n", "", entry.options_help.c_str());
  }
  return kDone;
}

}  // namespace

void add_policies(const Command& root) {
  const auto as_json = std::make_shared<bool>(false);
  const Command command = root.sub("policies", "list the scheduling policies and their options");
  command.flag("--json", *as_json, "only JSON on stdout");
  command.examples({"starling policies", "starling policies --json"});
  command.action([as_json] { return list_policies(*as_json); });
}

}  // namespace starling
