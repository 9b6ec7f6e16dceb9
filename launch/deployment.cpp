#include "launch/deployment.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bus/roles.h"
#include "launch/files.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 1;
const char* const kFile = "deployment.json";

json to_json(const DeployedNode& node) {
  json j{{"id", node.id.value}, {"name", node.name}, {"role", name_of(node.role)}};
  if (node.role != Role::client) j["partition"] = node.partition.value;
  if (node.role == Role::executor) j["servers"] = {node.servers.first, node.servers.last};
  if (!node.host.empty()) j["host"] = node.host;
  return j;
}

DeployedNode node_from(const json& j) {
  DeployedNode node;
  node.id = NodeId{j.at("id").get<std::uint32_t>()};
  node.name = j.at("name").get<std::string>();
  node.role = role_named(j.at("role").get<std::string>());
  node.partition = PartitionId{j.value("partition", 0U)};
  node.host = j.value("host", "");
  if (const auto servers = j.find("servers"); servers != j.end()) {
    node.servers = {servers->at(0).get<std::uint32_t>(), servers->at(1).get<std::uint32_t>()};
  }
  return node;
}

/// Reads and parses; `read` may throw nlohmann's exceptions, whose messages name the key.
template <class T, class Read>
Result<T> from_json_file(const fs::path& file, Read read) {
  auto text = read_text(file);
  if (!text) return {Errc::invalid, text.error().message};
  try {
    return read(json::parse(text.value()));
  } catch (const json::exception& error) {
    return {Errc::invalid, file.string() + ": " + error.what()};
  }
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

AgentId host_of_seat(PartitionId p, std::uint32_t seat, std::uint32_t agents) {
  return AgentId{static_cast<std::uint32_t>((std::uint64_t{p.value} + seat) % agents)};
}

bool is_deployment(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kFile, ignored);
}

Result<Deployment> read_deployment(const fs::path& dir) {
  const fs::path file = dir / kFile;
  if (!is_deployment(dir)) {
    return {Errc::not_found, dir.string() + ": no flock lives there; 'starling up --flock " +
                                 dir.string() + " --topology FILE' makes one"};
  }
  auto read = from_json_file<Deployment>(file, [](const json& j) {
    Deployment d;
    d.topology = j.at("topology").get<std::string>();
    d.policy = j.at("policy").get<std::string>();
    d.physics = j.at("physics").get<std::string>();
    d.launcher = j.at("launcher").get<std::string>();
    d.speedup = j.at("speedup").get<double>();
    d.seed = j.at("seed").get<std::uint64_t>();
    d.state = j.value("state", "");
    d.speed = j.value("speed", "");
    for (const json& node : j.at("nodes")) d.nodes.push_back(node_from(node));
    return d;
  });
  if (!read) return read;
  read.value().dir = dir;
  for (const DeployedNode& node : read.value().nodes) {
    if (node.role == Role::unknown) {
      return {Errc::invalid,
              file.string() + ": node '" + node.name + "': role must be agent, executor or client"};
    }
  }
  return read;
}

Status write_deployment(const Deployment& d) {
  json j{{"schema", kSchema},    {"topology", d.topology}, {"policy", d.policy},
         {"physics", d.physics}, {"launcher", d.launcher}, {"speedup", d.speedup},
         {"seed", d.seed},       {"nodes", json::array()}};
  if (!d.state.empty()) j["state"] = d.state;
  if (!d.speed.empty()) j["speed"] = d.speed;
  for (const DeployedNode& node : d.nodes) j["nodes"].push_back(to_json(node));
  return write_text(d.dir / kFile, j.dump(1) + "\n");
}

Result<NodeFile> read_node_file(const fs::path& file) {
  auto node = from_json_file<NodeFile>(file, [](const json& j) {
    return NodeFile{j.at("flock").get<std::string>(), j.at("node").get<std::string>(),
                    j.at("state").get<std::string>(), j.at("keys").get<std::string>()};
  });
  if (!node) return node;
  const fs::path base = fs::absolute(file).parent_path();
  for (fs::path* path : {&node.value().flock, &node.value().state, &node.value().keys}) {
    *path = (base / *path).lexically_normal();
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
