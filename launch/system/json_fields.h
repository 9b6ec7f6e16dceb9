// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/result.h"
#include "launch/system/files.h"

namespace starling {

/// What a JSON file should not have: names the field, and what would be right.
struct WrongField : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The fields of one JSON object, for files that programs write and people mend. Each throws
/// WrongField where the field is missing or of another kind.
class JsonFields {
 public:
  /// `where` is said before each field's name: "nodes[3]." or nothing. `json` outlives it.
  explicit JsonFields(const nlohmann::json& json, std::string where = "");

  [[nodiscard]] bool has(const char* name) const { return json_.contains(name); }
  [[nodiscard]] const nlohmann::json& list(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  /// `fallback` where it is missing.
  [[nodiscard]] std::string text(const char* name, const std::string& fallback) const;
  [[nodiscard]] std::uint64_t whole(const char* name, std::uint64_t most) const;
  [[nodiscard]] double number(const char* name, double least, double most) const;
  [[noreturn]] void wrong(const char* name, const std::string& what) const;

 private:
  [[nodiscard]] const nlohmann::json& at(const char* name) const;

  const nlohmann::json& json_;
  std::string where_;
};

/// Parses `file` and hands it to `read`. `invalid` names the file and what is wrong in it.
template <class T, class Read>
[[nodiscard]] Result<T> read_json_file(const std::filesystem::path& file, Read read) {
  auto text = read_text(file);
  if (!text) return {Errc::invalid, text.error().message};
  try {
    return read(nlohmann::json::parse(text.value()));
  } catch (const WrongField& error) {
    return {Errc::invalid, file.string() + ": " + error.what()};
  } catch (const nlohmann::json::exception& error) {
    return {Errc::invalid, file.string() + ": " + error.what()};
  }
}

}  // namespace starling
