// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/simulated/counterparts.h"

#include <algorithm>
#include <set>

#include "launch/chaos/scenario/fault_kinds.h"

namespace starling::chaos_live {
namespace {

using K = FaultTarget::Kind;

bool is_etcd(const FaultTarget& target) { return target.kind == K::etcd; }

/// Cutting an agent off from all members is what a lease that cannot be renewed is.
bool takes_lease(const FaultSpec& spec) {
  return spec.kind == LiveFaultKind::cut && spec.who.size() == 2 && !is_etcd(spec.who[0]) &&
         is_etcd(spec.who[1]) && spec.who[1].all;
}

const char* why_not(LiveFaultKind kind) {
  const char* const why = facts_of(kind).not_simulated;
  return *why != '\0' ? why
                      : "the members of etcd are not simulated here ('starling chaos etcd' does)";
}

}  // namespace

const char* counterpart_of(LiveFaultKind kind) { return facts_of(kind).simulated; }

bool has_counterpart(const FaultSpec& spec) {
  if (*counterpart_of(spec.kind) == '\0') return false;
  return takes_lease(spec) || std::none_of(spec.who.begin(), spec.who.end(), is_etcd);
}

std::vector<std::string> without_counterpart(const ChaosScenario& scenario) {
  std::vector<std::string> all;
  const auto note = [&all](const std::string& what, const std::string& why) {
    const std::string text = what + ": " + why;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  };
  for (const FaultSpec& spec : scenario.faults) {
    if (spec.kind == LiveFaultKind::storm && spec.value("times", 0) > kMostStorm)
      note("fault storm above 10 times", "every event is checked against all jobs; 10 are played");
    if (has_counterpart(spec)) continue;
    std::string whom;
    for (const FaultTarget& target : spec.who) {
      if (is_etcd(target)) whom = " of etcd";
    }
    note(std::string("fault ") + name_of(spec.kind) + whom, why_not(spec.kind));
  }
  static const std::set<Manner> kOutput{Manner::print, Manner::fifo_steps, Manner::fifo_log};
  for (const Manner manner : scenario.load.manners) {
    if (kOutput.contains(manner))
      note("manner " + std::string(facts_of(manner).name), "simulated jobs have no files");
  }
  if (scenario.load.submits_per_s > 0)
    note("load submits_per_s", "there are no commands in a simulation");
  const Expectations& e = scenario.expect;
  const std::pair<const char*, double> measured[] = {{"takeover_median", e.takeover_median},
                                                     {"takeover_most", e.takeover_most},
                                                     {"answered_within", e.answered_within},
                                                     {"rss_mib", e.rss_mib},
                                                     {"throughput", e.throughput}};
  for (const auto& [key, value] : measured) {
    if (value > 0) note(std::string("expect ") + key, "only a real machine can be measured");
  }
  return all;
}

}  // namespace starling::chaos_live
