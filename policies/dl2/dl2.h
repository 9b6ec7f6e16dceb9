// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "nets/weights.h"
#include "policies/dl2/dl2_division.h"
#include "scheduling/policy.h"

namespace starling {

/// The weights that the program carries.
[[nodiscard]] Result<Weights> shipped_dl2();
/// Of the slots that the shipped weights were trained in.
constexpr Duration kDl2Slot = std::chrono::minutes(20);

[[nodiscard]] const PolicyFacts& dl2_facts() noexcept;
/// The policy of those parts, in rounds of `round`; for training, which shares a learner.
[[nodiscard]] std::unique_ptr<Policy> make_dl2(Duration round, Dl2Division::Parts parts);
/// "drf" or "optimus".
[[nodiscard]] std::unique_ptr<Division> dl2_incumbent(const std::string& name);

}  // namespace starling
