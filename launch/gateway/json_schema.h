// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace starling {

/// Holds a value to a schema of those that the gateway's description is made of: the subset of JSON
/// Schema 2020-12 with type, enum, minimum, maximum, minLength, maxLength, pattern, items,
/// minItems, maxItems, properties, required, additionalProperties, maxProperties, anyOf and $ref
/// into `components` ("#/components/schemas/NAME"). Nothing: it is right. Else one sentence that
/// names the place and what would be right. `components` has every schema that is referred to.
[[nodiscard]] std::optional<std::string> against_schema(const nlohmann::json& value,
                                                        const nlohmann::json& schema,
                                                        const nlohmann::json& components,
                                                        const std::string& where);

/// A parameter's text as the value that its schema wants: a number, true or false, or the text
/// itself where it is none.
[[nodiscard]] nlohmann::json parameter_value(const std::string& text, const nlohmann::json& schema);

}  // namespace starling
