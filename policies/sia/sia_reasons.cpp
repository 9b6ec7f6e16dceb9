// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_reasons.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/counted.h"

namespace starling {
namespace {

constexpr std::size_t kShown = 4;

std::string number(const char* format, double value) {
  char text[128];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

void SiaReasons::note(Instant now, std::vector<std::string> types, std::vector<JobId> jobs,
                      SiaProblem problem, SiaAnswer answer, std::string failure) {
  at_ = now;
  types_ = std::move(types);
  jobs_ = std::move(jobs);
  problem_ = std::move(problem);
  answer_ = std::move(answer);
  failure_ = std::move(failure);
}

std::string SiaReasons::choice_text(const SiaProblem::Choice& choice) const {
  return counted(choice.gpus, "GPU", "GPUs") + " of " + types_[choice.type];
}

std::vector<std::string> SiaReasons::explain(JobId job, const SiaObjective& objective) const {
  const auto at = std::ranges::find(jobs_, job);
  if (at == jobs_.end()) return {};
  const auto i = static_cast<std::size_t>(at - jobs_.begin());
  const SiaProblem::Row& row = problem_.rows[i];
  const auto taken = answer_.taken[i];
  std::string first = number("policy: the round at %.0f s ", seconds(at_.time_since_epoch()));
  if (!failure_.empty())
    first += "could not be solved (" + failure_ + "), so that each job keeps what it has; it ";
  first += taken ? "gave it " + choice_text(row.choices[*taken]) : "left it waiting";
  first += number("; to wait costs %.2f", objective.idle);
  std::vector<std::string> lines{std::move(first)};
  std::vector<std::size_t> order(row.choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return sia_cost(row, c, objective); });
  double lowest = 0;
  for (const auto& c : row.choices) lowest = lowest > 0 ? std::min(lowest, c.goodput) : c.goodput;
  for (std::size_t k = 0; k < std::min(order.size(), kShown); ++k) {
    const std::size_t c = order[k];
    lines.push_back(
        "  " + choice_text(row.choices[c]) +
        number(": %.2f times as fast as its slowest choice", row.choices[c].goodput / lowest) +
        number(", costs %.2f", sia_cost(row, c, objective)) + (taken == c ? ", taken" : "") +
        (row.now == c ? ", as it ran" : ""));
  }
  if (row.now && row.restart < 1)
    lines.push_back(
        number("  whatever it does not have keeps %.2f of its speed, for a restart", row.restart));
  if (!answer_.proven) lines.emplace_back("  the search was cut off before the best was found");
  return lines;
}

}  // namespace starling
