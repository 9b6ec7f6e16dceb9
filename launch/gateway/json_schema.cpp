// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/json_schema.h"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <string_view>

#include "launch/system/text.h"

namespace starling {
namespace {

using Json = nlohmann::json;
using Wrong = std::optional<std::string>;

bool is_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  // 2.0 is an integer, too.
  if (value.is_number_float()) {
    const double x = value.get<double>();
    return x == static_cast<double>(static_cast<std::int64_t>(std::clamp(x, -9e15, 9e15)));
  }
  return value.is_number_integer();
}

Wrong wrong_type(const Json& value, const Json& schema, const std::string& where) {
  const auto at = schema.find("type");
  if (at == schema.end()) return std::nullopt;
  const Json types = at->is_array() ? *at : Json::array({*at});
  std::string wanted;
  for (const Json& type : types) {
    const auto name = type.get<std::string>();
    if (is_type(value, name)) return std::nullopt;
    wanted += (wanted.empty() ? "" : " or ") + name;
  }
  return where + " has to be of type " + wanted;
}

/// Characters of well-formed UTF-8.
std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

Wrong wrong_text(const Json& value, const Json& schema, const std::string& where) {
  const auto text = value.get<std::string>();
  const std::size_t length = characters(text);
  if (const auto at = schema.find("maxLength");
      at != schema.end() && length > at->get<std::size_t>())
    return where + " has more than " + at->dump() + " characters";
  if (const auto at = schema.find("minLength");
      at != schema.end() && length < at->get<std::size_t>())
    return where + " has fewer than " + at->dump() + " characters";
  if (const auto at = schema.find("pattern"); at != schema.end()) {
    // A pattern stands beside a maxLength, so that the recursion of std::regex is bounded.
    if (!std::regex_search(text, std::regex(at->get<std::string>(), std::regex::ECMAScript)))
      return where + " has to match " + at->get<std::string>();
  }
  return std::nullopt;
}

Wrong wrong_number(const Json& value, const Json& schema, const std::string& where) {
  const double x = value.get<double>();
  if (const auto at = schema.find("minimum"); at != schema.end() && x < at->get<double>())
    return where + " has to be at least " + at->dump();
  if (const auto at = schema.find("maximum"); at != schema.end() && x > at->get<double>())
    return where + " has to be at most " + at->dump();
  return std::nullopt;
}

Wrong wrong_list(const Json& value, const Json& schema, const Json& components,
                 const std::string& where) {
  if (const auto at = schema.find("maxItems");
      at != schema.end() && value.size() > at->get<std::size_t>())
    return where + " has more than " + at->dump() + " entries";
  if (const auto at = schema.find("minItems");
      at != schema.end() && value.size() < at->get<std::size_t>())
    return where + " has fewer than " + at->dump() + " entries";
  const auto items = schema.find("items");
  if (items == schema.end()) return std::nullopt;
  for (std::size_t i = 0; i < value.size(); ++i) {
    auto wrong =
        against_schema(value[i], *items, components, where + "[" + std::to_string(i) + "]");
    if (wrong) return wrong;
  }
  return std::nullopt;
}

/// As people are told of a key that there is not.
std::string unknown_key(const std::string& key, const Json& properties, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : properties.items()) names.push_back(name);
  const auto meant = nearest(key, names);
  return where + " has no '" + key.substr(0, 64) + "'; " +
         (meant ? "did you mean '" + *meant + "'?" : "it can have " + joined(names, ", "));
}

Wrong wrong_object(const Json& value, const Json& schema, const Json& components,
                   const std::string& where) {
  if (const auto at = schema.find("required"); at != schema.end()) {
    for (const Json& name : *at)
      if (!value.contains(name.get<std::string>()))
        return where + " has to have '" + name.get<std::string>() + "'";
  }
  if (const auto at = schema.find("maxProperties");
      at != schema.end() && value.size() > at->get<std::size_t>())
    return where + " has more than " + at->dump() + " entries";
  const Json properties = schema.value("properties", Json::object());
  const auto others = schema.find("additionalProperties");
  for (const auto& [key, item] : value.items()) {
    const std::string place = where + "." + key.substr(0, 64);
    if (const auto known = properties.find(key); known != properties.end()) {
      if (auto wrong = against_schema(item, *known, components, place)) return wrong;
    } else if (others != schema.end() && others->is_boolean()) {
      if (!others->get<bool>()) return unknown_key(key, properties, where);
    } else if (others != schema.end()) {
      if (auto wrong = against_schema(item, *others, components, place)) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> against_schema(const Json& value, const Json& schema,
                                          const Json& components, const std::string& where) {
  if (const auto ref = schema.find("$ref"); ref != schema.end()) {
    const auto path = ref->get<std::string>();
    return against_schema(value, components.at(path.substr(path.rfind('/') + 1)), components,
                          where);
  }
  if (const auto any = schema.find("anyOf"); any != schema.end()) {
    Wrong last;
    for (const Json& one : *any) {
      last = against_schema(value, one, components, where);
      if (!last) break;
    }
    if (last) return last;
  }
  if (auto wrong = wrong_type(value, schema, where)) return wrong;
  if (const auto at = schema.find("enum");
      at != schema.end() && std::find(at->begin(), at->end(), value) == at->end())
    return where + " has to be one of " + at->dump();
  if (value.is_string()) return wrong_text(value, schema, where);
  if (value.is_number()) return wrong_number(value, schema, where);
  if (value.is_array()) return wrong_list(value, schema, components, where);
  if (value.is_object()) return wrong_object(value, schema, components, where);
  return std::nullopt;
}

Json parameter_value(const std::string& text, const Json& schema) {
  const std::string type = schema.value("type", "string");
  if (type == "integer") {
    const auto whole = parse_whole(text);
    if (whole && *whole <= static_cast<std::uint64_t>(INT64_MAX)) return *whole;
  }
  if (type == "boolean" && (text == "true" || text == "false")) return text == "true";
  return text;
}

}  // namespace starling
