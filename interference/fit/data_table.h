// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// A published CSV file in memory, by column name.
class DataTable {
 public:
  /// `invalid` names file and line of a row that has another number of fields than the header, and
  /// a column of `needs` that is missing.
  [[nodiscard]] static Result<DataTable> read(const std::filesystem::path& file,
                                              const std::vector<std::string_view>& needs);

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] bool has(std::string_view column) const { return columns_.contains(column); }
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
  /// `invalid` if the field is no number.
  [[nodiscard]] Result<double> number(std::size_t row, std::string_view column) const;

 private:
  std::string file_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::uint64_t> lines_;
};

}  // namespace starling
