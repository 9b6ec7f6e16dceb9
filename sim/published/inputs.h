// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// `name` below the published data folder. `not_found` says what is missing where.
[[nodiscard]] Result<std::filesystem::path> published_file(const std::filesystem::path& data,
                                                           std::string_view name);
/// The same as JSON, plain or gzip. `invalid` names the file that is none.
[[nodiscard]] Result<nlohmann::json> published_json(const std::filesystem::path& data,
                                                    std::string_view name);
/// The row `name` of what conformance/expected.json says of `work`. `invalid` unless it has so many
/// numbers; the message is to stand behind the file's name.
[[nodiscard]] Result<std::vector<double>> published_row(const nlohmann::json& expected,
                                                        const std::string& work,
                                                        const std::string& name,
                                                        std::size_t numbers);

}  // namespace starling
