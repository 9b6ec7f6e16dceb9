// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/output_json.h"

#include <nlohmann/json.hpp>

namespace starling {

std::string output_json(const OutputLine& output) {
  nlohmann::ordered_json j;
  j["job"] = to_string(output.job);
  j["attempt"] = output.attempt;
  j["server"] = output.server;
  if (output.gone > 0) {
    j["gone_bytes"] = output.gone;
  } else {
    j["rank"] = nullptr;
    if (output.line.rank) j["rank"] = *output.line.rank;
    j["line"] = output.line.text;
    if (output.line.cut) j["cut"] = true;
  }
  return j.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace starling
