// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/deployment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/login_name.h"
#include "bus/wire/roles.h"
#include "launch/deployment/deployment_check.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/system/files.h"
#include "launch/system/json_fields.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 1;
constexpr const char* kGranted = "user-";
const char* const kFile = "deployment.json";
const char* const kForChaos = "chaos";
constexpr std::uint64_t kMostGenerations = 1'000'000;

json to_json(const DeployedNode& node) {
  json j{{"id", node.id.value}, {"name", node.name}, {"role", name_of(node.role)}};
  if (node.role != Role::client) j["partition"] = node.partition.value;
  if (node.role == Role::executor) j["servers"] = {node.servers.first, node.servers.last};
  if (!node.host.empty()) j["host"] = node.host;
  return j;
}

json to_json(const EtcdAccess& access) {
  json j = json::object();
  const auto put = [&](const char* name, const std::string& text) {
    if (!text.empty()) j[name] = text;
  };
  put("ca", access.ca);
  put("certificate", access.certificate);
  put("key", access.key);
  put("user", access.user);
  put("password_file", access.password);
  return j;
}

EtcdAccess access_from(const JsonFields& j) {
  return {j.text("ca", ""), j.text("certificate", ""), j.text("key", ""), j.text("user", ""),
          j.text("password_file", "")};
}

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();

DeployedNode node_from(const JsonFields& j) {
  DeployedNode node;
  node.id = NodeId{static_cast<std::uint32_t>(j.whole("id", kMost32))};
  node.name = j.text("name");
  node.role = role_named(j.text("role"));
  node.host = j.text("host", "");
  if (node.role == Role::unknown) j.wrong("role", "must be agent, executor or client");
  if (node.role == Role::client) return node;
  node.partition = PartitionId{static_cast<std::uint32_t>(j.whole("partition", kMost32))};
  if (node.role == Role::agent) return node;
  const json& servers = j.list("servers");
  const auto whole = [](const json& n) {
    return n.is_number_unsigned() && n.get<std::uint64_t>() <= kMost32;
  };
  if (servers.size() != 2 || !whole(servers[0]) || !whole(servers[1]))
    j.wrong("servers", "is not [FIRST, LAST + 1]");
  node.servers = {servers[0].get<std::uint32_t>(), servers[1].get<std::uint32_t>()};
  return node;
}

}  // namespace

const DeployedNode* Deployment::find(const std::string& name) const {
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [&](const DeployedNode& n) { return n.name == name; });
  return it == nodes.end() ? nullptr : &*it;
}

std::vector<const DeployedNode*> Deployment::with_role(Role role) const {
  std::vector<const DeployedNode*> found;
  for (const DeployedNode& node : nodes) {
    if (node.role == role) found.push_back(&node);
  }
  return found;
}

std::uint32_t Deployment::agents() const {
  return static_cast<std::uint32_t>(with_role(Role::agent).size());
}

bool Deployment::has_agent_on(const std::string& host) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const DeployedNode& node) {
    return node.role == Role::agent && node.host == host;
  });
}

AgentId host_of_seat(PartitionId p, std::uint32_t seat, std::uint32_t agents) {
  return AgentId{static_cast<std::uint32_t>((std::uint64_t{p.value} + seat) % agents)};
}

std::string granted_name(const std::string& user) { return kGranted + user; }

bool is_granted(const DeployedNode& node) {
  return node.role == Role::client && node.name.starts_with(kGranted);
}

Error not_for_us(const std::filesystem::path& file, const std::filesystem::path& dir) {
  const std::string me = login_name();
  const std::string denied = file.string() + " is not readable for user '" + me + "'; ";
  const std::string grant = "'starling keys grant " + me + " --flock " + dir.string() + "'";
  struct stat info {};
  if (::stat(dir.c_str(), &info) != 0 || info.st_uid == 0)
    return {Errc::invalid, denied + "an operator lets " + me + " into the flock with " + grant};
  const std::string owner = "'" + login_name_of(info.st_uid) + "'";
  return {Errc::invalid, denied + owner +
                             " has brought the flock up: on one machine it is theirs alone (one "
                             "that root brings up has room for several users), on hosts they let " +
                             me + " in with " + grant};
}

bool is_deployment(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kFile, ignored);
}

Result<Deployment> read_deployment(const fs::path& dir) {
  const fs::path file = dir / kFile;
  if (::access(file.c_str(), R_OK) != 0 && errno == EACCES) return not_for_us(file, dir);
  if (!is_deployment(dir)) {
    return {Errc::not_found, dir.string() + ": no flock lives there; 'starling up --flock " +
                                 dir.string() + " --topology FILE' makes one"};
  }
  return read_deployment_in(dir, file);
}

Result<Deployment> read_deployment_in(const fs::path& dir, const fs::path& file) {
  auto read = read_json_file<Deployment>(file, [](const json& file_json) {
    const JsonFields j(file_json);
    Deployment d;
    if (j.has("schema")) (void)j.whole("schema", kSchema);
    d.topology = j.text("topology");
    d.policy = j.text("policy");
    d.physics = j.text("physics");
    d.launcher = j.text("launcher");
    d.speedup = j.number("speedup", kLeastSpeedup, kMostSpeedup);
    d.seed = j.whole("seed", std::numeric_limits<std::uint64_t>::max());
    d.state = j.text("state", "");
    d.speed = j.text("speed", "");
    d.for_chaos = j.has("made_for");
    if (d.for_chaos && j.text("made_for") != kForChaos) j.wrong("made_for", "can only be chaos");
    if (j.has("generation"))
      d.generation = static_cast<std::uint32_t>(j.whole("generation", kMostGenerations));
    if (j.has("fingerprint"))
      d.fingerprint = j.whole("fingerprint", std::numeric_limits<std::uint64_t>::max());
    if (j.has("etcd")) d.etcd = access_from(JsonFields(file_json.at("etcd"), "etcd."));
    const json& nodes = j.list("nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i)
      d.nodes.push_back(node_from(JsonFields(nodes[i], "nodes[" + std::to_string(i) + "].")));
    return d;
  });
  if (!read) return read;
  read.value().dir = dir;
  if (const Status good = check_deployment(read.value()); !good.ok())
    return {Errc::invalid, file.string() + ": " + good.error().message};
  return read;
}

Status write_deployment(const Deployment& d) { return write_deployment_in(d.dir / kFile, d); }

Status write_deployment_in(const fs::path& file, const Deployment& d) {
  json j{{"schema", kSchema},    {"topology", d.topology}, {"policy", d.policy},
         {"physics", d.physics}, {"launcher", d.launcher}, {"speedup", d.speedup},
         {"seed", d.seed},       {"nodes", json::array()}};
  if (!d.state.empty()) j["state"] = d.state;
  if (!d.etcd.empty()) j["etcd"] = to_json(d.etcd);
  if (!d.speed.empty()) j["speed"] = d.speed;
  if (d.for_chaos) j["made_for"] = kForChaos;
  for (const DeployedNode& node : d.nodes) j["nodes"].push_back(to_json(node));
  if (d.generation > 1) {
    j["generation"] = d.generation;
    j["fingerprint"] = d.fingerprint;
  }
  return write_text(file, j.dump(1) + "\n");
}

Result<NodeFile> read_node_file(const fs::path& file) {
  auto node = read_json_file<NodeFile>(file, [](const json& file_json) {
    const JsonFields j(file_json);
    for (const char* name : {"flock", "node", "state", "keys"}) {
      if (j.text(name).empty()) j.wrong(name, "is empty");
    }
    return NodeFile{j.text("flock"), j.text("node"), j.text("state"), j.text("keys")};
  });
  if (!node) return node;
  const fs::path base = fs::absolute(file).parent_path();
  for (fs::path* path : {&node.value().flock, &node.value().state, &node.value().keys}) {
    *path = (base / *path).lexically_normal();
  }
  std::error_code ignored;
  if (!fs::is_directory(node.value().flock, ignored)) {
    return {Errc::invalid,
            file.string() + ": flock: " + node.value().flock.string() + " is no folder"};
  }
  if (fs::exists(node.value().state, ignored) && !fs::is_directory(node.value().state, ignored)) {
    return {Errc::invalid,
            file.string() + ": state: " + node.value().state.string() + " is no folder"};
  }
  const fs::path from_state = node.value().flock.lexically_relative(node.value().state);
  if (!from_state.empty() && *from_state.begin() != "..") {
    return {Errc::invalid, file.string() + ": state: the flock is in " +
                               node.value().state.string() + "; it has to be a folder of its own"};
  }
  if (!fs::is_regular_file(node.value().keys, ignored)) {
    return {Errc::invalid, file.string() + ": keys: " + node.value().keys.string() + " is no file"};
  }
  return node;
}

Status write_node_file(const fs::path& file, const NodeFile& node) {
  const json j{{"flock", node.flock.string()},
               {"node", node.node},
               {"state", node.state.string()},
               {"keys", node.keys.string()}};
  return write_text(file, j.dump(1) + "\n");
}

Result<fs::path> flock_dir(const std::string& option) {
  if (!option.empty()) return fs::path(option);
  const char* environment = std::getenv("STARLING_FLOCK");
  if (environment != nullptr && *environment != '\0') return fs::path(environment);
  return {Errc::invalid,
          "which flock? give --flock DIR or set STARLING_FLOCK to the directory of 'starling up'"};
}

}  // namespace starling
