// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "launch/hosts/keeper.h"

namespace starling {

std::string to_json_line(const HostStatus& s) {
  nlohmann::json daemons = nlohmann::json::array();
  for (const KeptDaemon& d : s.daemons) {
    daemons.push_back({{"name", d.name}, {"up", d.up}, {"restarts", d.restarts}});
    if (!d.note.empty()) daemons.back()["note"] = d.note;
    if (d.away) daemons.back()["away"] = true;
    if (!d.trouble.empty()) daemons.back()["trouble"] = d.trouble;
  }
  nlohmann::json out{{"host", s.host},     {"flock", s.flock},     {"pid", s.pid},
                     {"beat_s", s.beat_s}, {"stopped", s.stopped}, {"daemons", daemons}};
  if (!s.hardware.empty()) out["hardware"] = s.hardware;
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<HostStatus> host_status_from(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    HostStatus s;
    s.host = json.at("host").get<std::string>();
    s.flock = json.at("flock").get<std::string>();
    s.pid = json.at("pid").get<std::int64_t>();
    s.beat_s = json.at("beat_s").get<double>();
    s.stopped = json.at("stopped").get<bool>();
    for (const auto& d : json.at("daemons")) {
      s.daemons.push_back({d.at("name").get<std::string>(), d.at("up").get<bool>(),
                           d.at("restarts").get<std::uint32_t>(), d.value("note", ""),
                           d.value("away", false), d.value("trouble", "")});
    }
    s.hardware = json.value("hardware", std::vector<std::string>());
    return s;
  } catch (const nlohmann::json::exception& error) {
    return {Errc::invalid, std::string("no status of a host: ") + error.what()};
  }
}

}  // namespace starling
