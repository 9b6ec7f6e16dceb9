// SPDX-License-Identifier: Apache-2.0
#include "launch/system/json_fields.h"

#include <cmath>
#include <utility>

#include "base/short_number.h"
#include "launch/system/text.h"

namespace starling {

JsonFields::JsonFields(const nlohmann::json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  if (json_.is_object()) return;
  if (where_.empty()) throw WrongField("is not a JSON object {...}");
  throw WrongField(where_.substr(0, where_.size() - 1) + " is not an object {...}");
}

void JsonFields::wrong(const char* name, const std::string& what) const {
  throw WrongField(where_ + name + ": " + what);
}

const nlohmann::json& JsonFields::at(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) wrong(name, "is missing");
  return *found;
}

const nlohmann::json& JsonFields::list(const char* name) const {
  const nlohmann::json& value = at(name);
  if (!value.is_array()) wrong(name, "is not a list [...]");
  return value;
}

std::string JsonFields::text(const char* name) const {
  const nlohmann::json& value = at(name);
  if (!value.is_string()) wrong(name, "is not a text");
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) wrong(name, "has a zero byte in it");
  return text;
}

std::string JsonFields::text(const char* name, const std::string& fallback) const {
  return has(name) ? text(name) : fallback;
}

std::uint64_t JsonFields::whole(const char* name, std::uint64_t most) const {
  const nlohmann::json& value = at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    wrong(name, "is not a whole number from 0 to " + std::to_string(most));
  return value.get<std::uint64_t>();
}

double JsonFields::number(const char* name, double least, double most) const {
  const nlohmann::json& value = at(name);
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    wrong(name, "is not a number from " + short_number(least) + " to " + short_number(most));
  return number;
}

}  // namespace starling
