// SPDX-License-Identifier: Apache-2.0
#include "workload/job_terms.h"

#include <algorithm>

#include "base/counted.h"
#include "base/short_number.h"
#include "workload/terms_text.h"

namespace starling {

const char* name_of(After::How how) noexcept {
  switch (how) {
    case After::How::ok:
      return "ok";
    case After::How::any:
      return "any";
    case After::How::not_ok:
      return "notok";
  }
  return "unknown";
}

Duration JobTerms::pause_after(std::uint32_t failures) const noexcept {
  const Duration first = retry_after > Duration{0} ? retry_after : kRetryAfter;
  const std::uint32_t doublings = std::min(std::max(failures, 1U) - 1, 12U);
  return std::min(first * (std::int64_t{1} << doublings), std::max(first, kLongestRetry));
}

std::string terms_text(const JobTerms& terms) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto in_seconds = [](Duration time) { return short_number(seconds(time)) + " s"; };
  if (terms.of_array()) {
    add("task " + std::to_string(terms.task) + " of array " + to_string(terms.array));
    if (terms.at_once > 0) add(std::to_string(terms.at_once) + " of it at once");
  }
  if (terms.hold) add("held until it is released");
  if (terms.begin > Duration{0}) add("not before " + in_seconds(terms.begin) + " have passed");
  for (const After& after : terms.after)
    add(std::string("after ") + name_of(after.how) + " of " + to_string(after.job));
  if (terms.retries > 0)
    add(counted(terms.retries, "retry", "retries") + ", the first after " +
        in_seconds(terms.pause_after(1)));
  if (terms.time_limit > Duration{0}) add("at most " + in_seconds(terms.time_limit) + " a try");
  if (terms.signal > 0)
    add(signal_name(terms.signal) + " " + in_seconds(terms.signal_before) + " before that");
  return text;
}

}  // namespace starling
