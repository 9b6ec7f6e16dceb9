// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "launch/hosts/host_board.h"
#include "launch/system/text.h"

namespace starling {
namespace {

using Seen = HostBoard::Seen;

/// "1/1": those of a kind that are up, and all.
std::string up_of(const Seen& seen, const char* kind) {
  if (!seen.status) return "?";
  std::size_t up = 0, all = 0;
  for (const KeptDaemon& d : seen.status->daemons) {
    if (!d.name.starts_with(kind)) continue;
    ++all;
    up += d.up ? 1 : 0;
  }
  return std::to_string(up) + "/" + std::to_string(all);
}

const char* link_of(const Seen& seen) {
  if (seen.stopped) return "stopped";
  return seen.linked ? "up" : "lost";
}

std::map<std::string, KeptDaemon> daemons_of(const Seen& seen) {
  std::map<std::string, KeptDaemon> daemons;
  if (seen.status) {
    for (const KeptDaemon& d : seen.status->daemons) daemons[d.name] = d;
  }
  return daemons;
}

}  // namespace

std::string board_table(const HostFlock& flock, const std::vector<Seen>& seen) {
  std::vector<std::vector<std::string>> rows{
      {"host", "address", "link", "agents", "executors", "restarts", "trouble"}};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    std::uint32_t restarts = 0;
    std::string trouble = seen[i].linked || seen[i].stopped ? "" : seen[i].trouble;
    for (const auto& [name, d] : daemons_of(seen[i])) {
      restarts += d.restarts;
      if (!d.up && trouble.empty() && !seen[i].stopped) trouble = d.note;
    }
    rows.push_back({flock.hosts[i].name, flock.hosts[i].address, link_of(seen[i]),
                    up_of(seen[i], "agent"), up_of(seen[i], "executor"), std::to_string(restarts),
                    trouble.substr(0, 60)});
  }
  return table_text(rows);
}

std::string board_line(const std::string& event, const HostFlock& flock,
                       const std::vector<Seen>& seen) {
  nlohmann::json hosts = nlohmann::json::array();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    nlohmann::json daemons = nlohmann::json::array();
    for (const auto& [name, d] : daemons_of(seen[i])) {
      daemons.push_back({{"name", name}, {"up", d.up}, {"restarts", d.restarts}});
      if (!d.note.empty()) daemons.back()["note"] = d.note;
    }
    nlohmann::json host{{"host", flock.hosts[i].name},
                        {"address", flock.hosts[i].address},
                        {"link", link_of(seen[i])},
                        {"losses", seen[i].losses},
                        {"keepers_restarted", seen[i].keepers},
                        {"daemons", daemons}};
    if (!seen[i].linked && !seen[i].trouble.empty()) host["trouble"] = seen[i].trouble;
    hosts.push_back(std::move(host));
  }
  return nlohmann::json{{"schema", 1}, {"event", event}, {"hosts", hosts}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> board_news(const HostFlock& flock, const std::vector<Seen>& before,
                                    const std::vector<Seen>& now) {
  std::vector<std::string> news;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string who = flock.hosts[i].name + ": ";
    const Seen &was = before[i], &is = now[i];
    if (is.stopped && !was.stopped) news.push_back(who + "stopped on request");
    if (was.linked && !is.linked && !is.stopped)
      news.push_back(who + "connection lost (" + is.trouble + "); its daemons go on");
    if (!was.linked && is.linked)
      news.push_back(who + (was.stopped  ? "started again"
                            : was.status ? "connected again"
                                         : "connected"));
    if (is.keepers > was.keepers) news.push_back(who + "its keeper was gone; starting it again");
    const auto earlier = daemons_of(was);
    for (const auto& [name, d] : daemons_of(is)) {
      const auto old = earlier.find(name);
      const KeptDaemon known = old == earlier.end() ? KeptDaemon{name, d.up, 0, ""} : old->second;
      if (is.stopped) continue;
      const bool again = d.restarts > known.restarts;
      const bool ended = known.up && (!d.up || again);
      const bool said_more = !d.up && !known.up && d.note != known.note;
      if ((ended || said_more) && !d.note.empty()) news.push_back(who + d.note);
      if (again && d.up) news.push_back(who + name + " was started again");
    }
  }
  return news;
}

}  // namespace starling
