// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/chaos_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bus/wire/roles.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Quantiles {
  double p50 = 0, p99 = 0, most = 0;
};

Quantiles spread_of(std::vector<double> took) {
  if (took.empty()) return {};
  std::sort(took.begin(), took.end());
  const auto at = [&](double share) {
    return took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))];
  };
  return {at(0.5), at(0.99), took.back()};
}

void print_frames(const ChaosReport& report) {
  std::map<std::string, std::map<std::string, std::uint64_t>> by_kind;
  for (const auto& [fate, counts] : report.fates) {
    for (const auto& [kind, count] : counts) by_kind[kind][fate] += count;
  }
  std::printf("  %-18s", "frames by kind");
  for (const auto& [fate, counts] : report.fates) std::printf(" %11s", fate.c_str());
  std::printf("\n");
  for (const auto& [kind, fates] : by_kind) {
    std::printf("  %-18s", kind.c_str());
    for (const auto& [fate, counts] : report.fates) {
      const auto at = fates.find(fate);
      std::printf(" %11s", with_commas(at == fates.end() ? 0 : at->second).c_str());
    }
    std::printf("\n");
  }
}

/// The failures behind the first `shown`, by seed.
void print_others(const ChaosReport& report, std::size_t shown) {
  constexpr std::size_t kMostNamed = 20;
  const std::uint64_t more = report.failures - shown;
  std::string seeds;
  std::size_t failed = 0;
  for (const ChaosReport::Verdict& v : report.verdicts) {
    if (v.rule.empty() || ++failed <= shown) continue;
    seeds += failed > shown + kMostNamed ? ", ..."
                                         : (seeds.empty() ? "" : ", ") + std::to_string(v.seed);
    if (failed > shown + kMostNamed) break;
  }
  std::printf("  and %s more, of seed%s %s; --first-seed S --seeds 1 shows one, --json all\n",
              with_commas(more).c_str(), more == 1 ? "" : "s", seeds.c_str());
}

}  // namespace

std::vector<std::string> marks_missed(const ChaosReport& report) {
  std::vector<std::string> missed;
  for (const auto& [mark, count] : report.marks) {
    if (count == 0) missed.push_back(mark);
  }
  return missed;
}

std::vector<std::string> frames_missed(const ChaosReport& report, std::uint64_t least) {
  std::vector<std::string> missed;
  for (const auto& [fate, counts] : report.fates) {
    for (std::size_t kind = 0; kind < std::variant_size_v<MessageKinds>; ++kind) {
      const auto at = counts.find(kind_name(kind));
      const std::uint64_t times = at == counts.end() ? 0 : at->second;
      if (times < least)
        missed.push_back(std::string(kind_name(kind)) + ": " + fate + " " + with_commas(times) +
                         " times");
    }
  }
  return missed;
}

void print_chaos_json(const ChaosReport& report, const std::vector<ChaosFinding>& findings) {
  nlohmann::json failing = nlohmann::json::array();
  for (const auto& [f, arguments] : findings) {
    failing.push_back({{"seed", f.seed},
                       {"rule", f.rule},
                       {"at_s", f.at_s},
                       {"message", f.message},
                       {"reproduce", "starling chaos sim " + arguments}});
  }
  nlohmann::json times = nlohmann::json::object();
  for (const auto& [what, took] : report.times) {
    const Quantiles s = spread_of(took);
    times[what] = {{"count", took.size()}, {"p50_s", s.p50}, {"p99_s", s.p99}, {"max_s", s.most}};
  }
  nlohmann::json verdicts = nlohmann::json::array();
  for (const ChaosReport::Verdict& v : report.verdicts) {
    verdicts.push_back({{"seed", v.seed},
                        {"verdict", v.rule.empty() ? "passed" : "failed"},
                        {"rule", v.rule},
                        {"policy", v.policy},
                        {"simulated_s", v.simulated_s}});
  }
  const nlohmann::json out{{"schema", 2},
                           {"scenario", report.scenario},
                           {"left_out", report.left_out},
                           {"verdicts", verdicts},
                           {"seeds", report.seeds},
                           {"failures", report.failures},
                           {"faults", report.faults},
                           {"frames", report.fates},
                           {"marks", report.marks},
                           {"marks_missed", marks_missed(report)},
                           {"times", times},
                           {"simulated_hours", report.simulated_hours},
                           {"jobs", report.jobs},
                           {"jobs_finished", report.finished},
                           {"jobs_cancelled", report.cancelled},
                           {"jobs_refused", report.refused},
                           {"jobs_failed", report.failed},
                           {"jobs_never_taken", report.never_taken},
                           {"events", report.events},
                           {"run_twice", report.twice},
                           {"policies", report.policies},
                           {"first_failures", failing}};
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_chaos_table(const ChaosReport& report, const std::vector<ChaosFinding>& findings) {
  if (!report.scenario.empty()) std::printf("scenario %s\n", report.scenario.c_str());
  for (const std::string& what : report.left_out) std::printf("  left out: %s\n", what.c_str());
  std::printf("%s, %.1f simulated hours, %s; %s run twice\n", amount(report.seeds, "seed").c_str(),
              report.simulated_hours, amount(report.events, "event").c_str(),
              amount(report.twice, "seed").c_str());
  std::printf("%s: %s finished, %s cancelled, %s refused, %s failed, %s never taken\n",
              amount(report.jobs, "job").c_str(), with_commas(report.finished).c_str(),
              with_commas(report.cancelled).c_str(), with_commas(report.refused).c_str(),
              with_commas(report.failed).c_str(), with_commas(report.never_taken).c_str());
  for (const auto& [kind, count] : report.faults)
    std::printf("  %-32s %12s\n", kind.c_str(), with_commas(count).c_str());
  print_frames(report);
  for (const auto& [what, took] : report.times) {
    const Quantiles s = spread_of(took);
    std::printf("  %-32s p50 %.1f s, p99 %.1f s, most %.1f s (%s times)\n", what.c_str(), s.p50,
                s.p99, s.most, with_commas(took.size()).c_str());
  }
  const std::vector<std::string> missed = marks_missed(report);
  std::printf("%zu of %zu marks of the cores passed%s\n", report.marks.size() - missed.size(),
              report.marks.size(), missed.empty() ? "" : "; not:");
  for (const std::string& mark : missed) std::printf("  %s\n", mark.c_str());
  std::printf("%s\n", amount(report.failures, "failure").c_str());
  for (const auto& [f, arguments] : findings) {
    std::printf("  %s at %.3f s: %s\n    starling chaos sim %s\n", f.rule.c_str(), f.at_s,
                f.message.c_str(), arguments.c_str());
  }
  if (report.failures > findings.size()) print_others(report, findings.size());
}

}  // namespace starling
