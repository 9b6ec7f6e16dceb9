// SPDX-License-Identifier: Apache-2.0
#include "bus/flock.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "bus/keys.h"
#include "bus/sessions.h"
#include "bus/wire/roles.h"

namespace starling {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json, const char* field) {
  const auto it = json.find(field);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

bool is_list_of_keys(const Json& json) {
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [](const Json& k) { return k.is_string(); });
}

/// As useradd and directories of networks have them; no path can be made of it.
bool is_login(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return name.size() <= 48 && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

/// tcp://HOST:PORT or ipc://PATH, as far as a text can tell.
bool is_address(const std::string& address) {
  if (address.starts_with("ipc://")) return address.size() > 6;
  const auto colon = address.rfind(':');
  if (!address.starts_with("tcp://") || colon <= 6) return false;
  std::uint32_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [read, error] = std::from_chars(address.data() + colon + 1, end, port);
  return error == std::errc() && read == end && port > 0 && port < 65'536;
}

Result<std::vector<SeatAddress>> seats_from(const Json& json) {
  if (!json.is_array()) return {Errc::invalid, "\"standby\" is not a list of seats"};
  std::vector<SeatAddress> seats;
  for (const Json& seat : json) {
    const std::size_t known =
        1U + (seat.contains("key") ? 1U : 0U) + (seat.contains("also") ? 1U : 0U);
    if (!seat.is_object() || text_of(seat, "address").empty() || seat.size() != known ||
        !is_list_of_keys(seat.value("also", Json::array()))) {
      return {Errc::invalid,
              "a standby seat has \"address\", \"key\", perhaps \"also\", and nothing else"};
    }
    seats.push_back({text_of(seat, "address"), text_of(seat, "key"),
                     seat.value("also", std::vector<std::string>())});
  }
  return seats;
}

Result<Member> member_from(const Json& json) {
  if (!json.is_object()) return {Errc::invalid, "is not an object"};
  for (const auto& [key, value] : json.items()) {
    if (key == "node") {
      if (!value.is_number_unsigned() ||
          value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
        return {Errc::invalid, "\"node\" is not a number below 2^32"};
      }
    } else if (key == "operator") {
      if (!value.is_boolean()) return {Errc::invalid, "\"operator\" is neither true nor false"};
    } else if (key == "role" || key == "address" || key == "key" || key == "user") {
      if (!value.is_string()) return {Errc::invalid, "\"" + key + "\" is not a text"};
    } else if (key == "also") {
      if (!is_list_of_keys(value)) return {Errc::invalid, "\"also\" is not a list of keys"};
    } else if (key != "standby") {
      return {Errc::invalid,
              "unknown field \"" + key +
                  "\"; there are node, role, address, key, standby, also, user, operator"};
    }
  }
  if (!json.contains("node")) return {Errc::invalid, "has no \"node\""};
  Member m{NodeId{json["node"].get<std::uint32_t>()},
           role_named(text_of(json, "role")),
           text_of(json, "address"),
           text_of(json, "key"),
           {},
           json.value("also", std::vector<std::string>())};
  if (json.contains("operator") && !json.contains("user"))
    return {Errc::invalid, "has \"operator\" without \"user\""};
  if (json.contains("user")) m.holder = {text_of(json, "user"), json.value("operator", false)};
  if (json.contains("user") && m.holder.user.empty())
    return {Errc::invalid, "\"user\" is empty; leave it out, or name a login"};
  if (m.role == Role::unknown) return {Errc::invalid, "\"role\" must be agent, executor or client"};
  if (json.contains("standby")) {
    auto seats = seats_from(json["standby"]);
    if (!seats) return seats.error();
    m.standby = std::move(seats).value();
  }
  return m;
}

}  // namespace

Status check_flock(const Flock& flock) {
  std::set<std::string> addresses, keys;
  for (const auto& [node, m] : flock) {
    const std::string who = "node " + std::to_string(node.value) + ": ";
    if (m.node != node) return {Errc::invalid, who + "listed under another number"};
    if (role_of(node) != m.role) {
      return {Errc::invalid, who + "is no " + name_of(m.role) +
                                 "'s number; agents count from 1, executors from " +
                                 std::to_string(kFirstExecutor) + ", clients from " +
                                 std::to_string(kFirstClient)};
    }
    if (place_of(node) != node)
      return {Errc::invalid, who + "beyond the last client's number, " +
                                 std::to_string(kFirstClient + kPlaces - 1)};
    if (m.holder != Asker{} && m.role != Role::client)
      return {Errc::invalid, who + "only clients may have a user"};
    if (!m.holder.user.empty() && !is_login(m.holder.user))
      return {Errc::invalid, who + "'" + m.holder.user.substr(0, 64) + "' cannot be a login name"};
    if (m.address.empty() && m.role != Role::client)
      return {Errc::invalid, who + "only clients may have no address"};
    if (m.role != Role::agent && !m.standby.empty())
      return {Errc::invalid, who + "only agents may have standby seats"};
    for (std::uint32_t i = 0; i < m.seats(); ++i) {
      const SeatAddress seat = m.seat(i);
      if (!seat.address.empty() && !addresses.insert(seat.address).second) {
        return {Errc::invalid, who + "address " + seat.address + " is already another's"};
      }
      if (seat.public_key.empty() != m.public_key.empty())
        return {Errc::invalid, who + "some of its seats have a key and some have none"};
      for (const std::string& key : seat.also) {
        if (m.public_key.empty() || !is_key(key) || !keys.insert(key).second)
          return {Errc::invalid, who + "\"also\" has what is no key, or is already another's"};
      }
      if (seat.public_key.empty()) continue;
      if (!is_key(seat.public_key))
        return {Errc::invalid, who + "\"key\" is not a public key of 40 characters"};
      if (!keys.insert(seat.public_key).second)
        return {Errc::invalid, who + "its key is already another's"};
    }
  }
  return done();
}

Result<Flock> read_flock(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return {Errc::invalid, file.string() + ": is no file"};
  std::ifstream in(file);
  if (!in) return {Errc::io, file.string() + ": cannot be read: " + std::strerror(errno)};
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::invalid, file.string() + ": " + what};
  };
  Json json;
  try {
    json = Json::parse(in);
  } catch (const Json::exception& e) {
    return wrong(e.what());
  }
  if (!json.is_object() || json.value("flock", Json()) != 1 || !json.contains("members") ||
      !json["members"].is_array()) {
    return wrong(R"(expected {"flock": 1, "members": [...]})");
  }
  Flock flock;
  for (std::size_t i = 0; i < json["members"].size(); ++i) {
    const Result<Member> m = member_from(json["members"][i]);
    if (!m) return wrong("members[" + std::to_string(i) + "] " + m.error().message);
    if (!flock.emplace(m.value().node, m.value()).second) {
      return wrong("members[" + std::to_string(i) + "]: node " +
                   std::to_string(m.value().node.value) + " is listed twice");
    }
  }
  if (Status s = check_flock(flock); !s.ok()) return wrong(s.error().message);
  for (const auto& [node, m] : flock) {
    for (std::uint32_t i = 0; i < m.seats(); ++i) {
      const std::string address = m.seat(i).address;
      if (address.empty() || is_address(address)) continue;
      return wrong("node " + std::to_string(node.value) + ": address '" + address +
                   "' is neither tcp://HOST:PORT nor ipc://PATH");
    }
  }
  return flock;
}

Status write_flock(const std::filesystem::path& file, const Flock& flock) {
  if (Status s = check_flock(flock); !s.ok()) return s;
  Json members = Json::array();
  for (const auto& [node, m] : flock) {
    Json json{{"node", node.value}, {"role", name_of(m.role)}};
    if (!m.address.empty()) json["address"] = m.address;
    if (!m.public_key.empty()) json["key"] = m.public_key;
    for (const SeatAddress& seat : m.standby) {
      Json place{{"address", seat.address}};
      if (!seat.public_key.empty()) place["key"] = seat.public_key;
      if (!seat.also.empty()) place["also"] = seat.also;
      json["standby"].push_back(std::move(place));
    }
    if (!m.also.empty()) json["also"] = m.also;
    if (!m.holder.user.empty()) json["user"] = m.holder.user;
    if (!m.holder.user.empty() && m.holder.is_operator) json["operator"] = true;
    members.push_back(std::move(json));
  }
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream out(fresh);
  out << Json{{"flock", 1}, {"members", std::move(members)}}.dump(1) << '\n';
  out.close();
  std::error_code error;
  // There is no secret in it, and users of the flock read it, whatever the mask of its writer.
  using std::filesystem::perms;
  std::filesystem::permissions(
      fresh, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read,
      error);
  if (out && !error) std::filesystem::rename(fresh, file, error);
  if (!out || error) return {Errc::io, file.string() + ": cannot be written"};
  return done();
}

}  // namespace starling
