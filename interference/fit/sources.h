// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "interference/fit/fit.h"

namespace starling {

/// Each adds what one source gives to the report.
[[nodiscard]] Status fit_pollux(const std::filesystem::path& folder, FitReport& report);
[[nodiscard]] Status fit_elasticflow(const std::filesystem::path& folder, FitReport& report);
[[nodiscard]] Status fit_gavel(const std::filesystem::path& folder, FitReport& report);
[[nodiscard]] Status fit_gavel_pairs(const std::filesystem::path& folder, FitReport& report);
[[nodiscard]] Status fit_lucid_pairs(const std::filesystem::path& folder, FitReport& report);

}  // namespace starling
