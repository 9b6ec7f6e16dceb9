// SPDX-License-Identifier: Apache-2.0
#include "sim/published/inputs.h"

#include "workload/text/text_file.h"

namespace starling {

Result<std::filesystem::path> published_file(const std::filesystem::path& data,
                                             std::string_view name) {
  const std::filesystem::path file = data / name;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return file;
  return {Errc::not_found, file.string() + " is missing; give the published data folder"};
}

Result<nlohmann::json> published_json(const std::filesystem::path& data, std::string_view name) {
  const auto file = published_file(data, name);
  if (!file) return file.error();
  const auto text = read_text_file(file.value());
  if (!text) return text.error();
  nlohmann::json json = nlohmann::json::parse(text.value(), nullptr, false);
  if (json.is_discarded()) return {Errc::invalid, file.value().string() + ": this is no JSON"};
  return json;
}

Result<std::vector<double>> published_row(const nlohmann::json& expected, const std::string& work,
                                          const std::string& name, std::size_t numbers) {
  const auto at = nlohmann::json::json_pointer() / work / "results" / name;
  const bool there = expected.contains(at) && expected[at].is_array();
  std::vector<double> row;
  if (there) {
    for (const auto& number : expected[at])
      if (number.is_number()) row.push_back(number.get<double>());
  }
  if (row.size() == numbers) return row;
  return {Errc::invalid, ": " + at.to_string() + " is not a list of " + std::to_string(numbers) +
                             " numbers, as it is in the published data"};
}

}  // namespace starling
