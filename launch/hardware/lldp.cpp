// SPDX-License-Identifier: Apache-2.0
// `lldpctl -f json` writes a list with one element as that element, and things with a name as a
// mapping from it; `-f json0` writes everything as lists.
#include <nlohmann/json.hpp>

#include "launch/hardware/look.h"

namespace starling {
namespace {

using nlohmann::json;

/// Calls `each` for what stands there once or several times.
template <class Each>
void every(const json& one_or_more, Each each) {
  if (one_or_more.is_array()) {
    for (const json& one : one_or_more) each(one);
  } else if (!one_or_more.is_null()) {
    each(one_or_more);
  }
}

/// "x", {"value": "x"} or [{"value": "x"}].
std::string text_of(const json& node) {
  if (node.is_string()) return node.get<std::string>();
  if (node.is_array() && !node.empty()) return text_of(node.front());
  if (node.is_object() && node.contains("value")) return text_of(node["value"]);
  return "";
}

std::string chassis_name(const json& chassis) {
  std::string name;
  every(chassis, [&](const json& one) {
    if (!one.is_object() || !name.empty()) return;
    if (one.contains("name")) {
      name = text_of(one["name"]);
    } else if (one.contains("id") && (one["id"].is_array() || one["id"].contains("value"))) {
      name = text_of(one["id"]);
    } else if (!one.empty()) {
      name = one.begin().key();
    }
  });
  return name;
}

void read_interface(const std::string& port, const json& heard, std::vector<NeighbourFound>& all) {
  every(heard, [&](const json& one) {
    if (!one.is_object() || !one.contains("chassis")) return;
    const std::string name = chassis_name(one["chassis"]);
    if (!name.empty()) all.push_back({port, name});
  });
}

}  // namespace

Result<std::vector<NeighbourFound>> read_lldp(const std::string& text) {
  std::vector<NeighbourFound> all;
  const json in = json::parse(text, nullptr, false);
  if (in.is_discarded() || !in.is_object() || !in.contains("lldp"))
    return {Errc::invalid, "this is not what 'lldpctl -f json' writes: an object with \"lldp\""};
  every(in["lldp"], [&](const json& lldp) {
    if (!lldp.is_object() || !lldp.contains("interface")) return;
    every(lldp["interface"], [&](const json& interface) {
      if (!interface.is_object()) return;
      if (interface.contains("chassis") && interface.contains("name")) {
        read_interface(text_of(interface["name"]), interface, all);
        return;
      }
      for (const auto& [port, heard] : interface.items()) read_interface(port, heard, all);
    });
  });
  return all;
}

}  // namespace starling
