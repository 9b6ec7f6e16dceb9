// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/reach.h"

#include <atomic>
#include <thread>

#include "bus/flock.h"
#include "launch/hosts/preflight.h"
#include "launch/processes/shell_word.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// host:port of every node by host.
using Places = std::map<std::string, std::vector<std::string>>;

Result<Places> places_of(const Deployment& deployment) {
  auto members = read_flock(deployment.dir / "flock.json");
  if (!members) return members.error();
  Places places;
  for (const DeployedNode& node : deployment.nodes) {
    if (node.host.empty()) continue;
    const Member& member = members.value().at(node.id);
    const std::string prefix = "tcp://";
    places[node.host].push_back(member.address.substr(prefix.size()));
    for (std::uint32_t i = 1; i < member.seats(); ++i) {
      const auto at = host_of_seat(node.partition, i, deployment.agents());
      const DeployedNode* there = deployment.find("agent-" + std::to_string(at.value));
      places[there->host].push_back(member.seat(i).address.substr(prefix.size()));
    }
  }
  return places;
}

std::string words_of(const Places& places, const std::string& but) {
  std::string words;
  for (const auto& [host, all] : places) {
    if (host == but) continue;
    for (const std::string& place : all) words += " " + place;
  }
  return words;
}

}  // namespace

Status Preflight::reach(const Deployment& deployment) const {
  auto found = places_of(deployment);
  if (!found) return found.error();
  const Places& places = found.value();
  const std::size_t count = flock_.hosts.size();
  std::vector<std::string> wrong(count + 1);
  std::atomic<std::size_t> listening{0}, gone{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> listeners;
  for (std::size_t i = 0; i < count; ++i) {
    listeners.emplace_back([&, i] {
      const Host& host = flock_.hosts[i];
      const auto mine = places.find(host.name);
      if (mine == places.end()) {
        ++listening;
        return;
      }
      std::string command = shell_word(HostFlock::program(host)) + " node listen";
      for (const std::string& place : mine->second) command += " " + place;
      const Finished ended = follow_program(
          remote_.argv(host, command), [&](const std::string&) { ++listening; },
          [&] { return !over && !stop_requested(); });
      if (!over) {
        wrong[i] = complaint(host, flock_.way, ended);
        ++gone;
      }
    });
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (listening + gone < count && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (listening == count) {
    for_each_at_once(count + 1, [&](std::size_t i) {
      if (i == count) {  // this machine, for the clients
        std::vector<std::string> all;
        for (const auto& [host, theirs] : places)
          all.insert(all.end(), theirs.begin(), theirs.end());
        if (const Status s = reach_all(all); !s.ok())
          wrong[i] = "this machine " + s.error().message;
        return;
      }
      const std::string words = words_of(places, flock_.hosts[i].name);
      if (words.empty()) return;
      const auto answer = remote_.run(
          flock_.hosts[i], shell_word(HostFlock::program(flock_.hosts[i])) + " node reach" + words);
      if (!answer.ok()) wrong[i] = complaint(flock_.hosts[i], flock_.way, answer);
    });
  } else if (gone == 0) {
    wrong[count] = "some hosts do not get to listen in time";
  }
  over = true;
  for (std::thread& listener : listeners) listener.join();
  return together(wrong);
}

}  // namespace starling
