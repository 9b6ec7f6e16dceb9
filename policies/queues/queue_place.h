// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "scheduling/policy.h"

namespace starling {

/// What an order goes by of one job, for people, after "it" or "which": "takes 300 s".
using SaysOfJob = std::function<std::string(const JobView&)>;

/// A line for people: where a job of `view.waiting` is among them in the order of the policy, by
/// `by` and, where some have one, by priority before; what the order goes by of it and of the one
/// right before it. `says` may be empty. Costs a comparison with each that waits.
[[nodiscard]] std::string place_in_queue(const Policy& policy, const View& view, const JobView& job,
                                         std::string_view by, const SaysOfJob& says = {});

/// "has 300 s left by its estimate", for SaysOfJob; of a job that has none that.
[[nodiscard]] std::string length_left_text(const JobView& job);
/// The same of how long it takes in all.
[[nodiscard]] std::string length_text(const JobView& job);

/// "300 s".
[[nodiscard]] std::string whole_seconds(double s);

}  // namespace starling
