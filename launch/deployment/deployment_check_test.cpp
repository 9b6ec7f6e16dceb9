// SPDX-License-Identifier: Apache-2.0
// Files of a flock that were changed by hand: every value of a real one is replaced by what it
// should not be. Whatever is read then is an error with the file's name, or can be lived with.
#include "launch/deployment/deployment_check.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "agents/agent/agent.h"
#include "agents/check_journal.h"
#include "agents/executor/executor_state.h"
#include "base/test_folder.h"
#include "bus/flock.h"
#include "interference/models.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/servers/core_config.h"
#include "launch/system/files.h"
#include "launch/wiring/wiring.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Topology servers(std::uint32_t n) {
  GeneratorOptions shape;
  shape.servers = n;
  shape.gpus_per_server = 2;
  return generate_flat(shape).value();
}

struct Made {
  Made() {
    DeploymentPlan plan;
    plan.dir = folder.path / "flock";
    plan.agents = 2;
    plan.clients = 1;
    plan.servers_per_executor = 1;
    flock = create_deployment(plan, topology).value();
  }
  TestFolder folder{"check"};
  Topology topology = servers(4);
  Deployment flock;
};

const std::vector<json>& wrong_values() {
  // clang-format off
  static const std::vector<json> values{
      nullptr, true, -1, 0, 1, 2, 3, 7, 4095, 16'777'216, 33'554'432, 2'147'483'648U,
      4'294'967'295U, 4'294'967'296U, 18'446'744'073'709'551'615U, -2'147'483'648LL, 0.5, 1e308,
      -1e-308, "", "x", "agent", "client", "executor", "agent-0", "executor-1", "client-0", "..",
      "../../x", "/", "/dev/null", "/proc/self/mem", "physics", "full", "process", "etcd://",
      "etcd://127.0.0.1:1/x", std::string("a\0b", 3), "\x1b[2J", std::string(100'000, 'a'),
      json::array(), json::object(), json::array({1, 0}), json::array({0, 4'294'967'295U}),
      json::array({0}), json::array({nullptr, nullptr}), json::object({{"id", 1}})};
  // clang-format on
  return values;
}

/// `use` gets `whole` with each of its values, leaves and others, replaced by each wrong one, and
/// without it.
template <class Use>
std::size_t each_change(const json& whole, Use use) {
  std::vector<json::json_pointer> places;
  const auto collect = [&](const auto& self, const json& at,
                           const json::json_pointer& where) -> void {
    if (!where.empty()) places.push_back(where);
    if (at.is_object()) {
      for (const auto& [key, value] : at.items()) self(self, value, where / key);
    } else if (at.is_array()) {
      for (std::size_t i = 0; i < at.size(); ++i) self(self, at[i], where / i);
    }
  };
  collect(collect, whole, json::json_pointer());
  std::size_t count = 0;
  for (const json::json_pointer& place : places) {
    for (const json& value : wrong_values()) {
      json changed = whole;
      changed[place] = value;
      use(place.to_string(), changed);
      ++count;
    }
    json changed = whole;
    json& parent = changed[place.parent_pointer()];
    if (parent.is_object()) {
      parent.erase(place.back());
    } else {
      parent.erase(static_cast<std::size_t>(std::stoul(place.back())));
    }
    use(place.to_string() + " removed", changed);
    ++count;
  }
  return count;
}

json parsed(const fs::path& file) { return json::parse(read_text(file).value()); }

/// What daemons do with a description that is taken: their cores can be made.
void live_with(const Deployment& flock, const Topology& topology) {
  if (!fits_topology(flock, topology).ok()) return;
  const std::unique_ptr<SpeedModel> speed = make_flat_speed();
  for (const DeployedNode& node : flock.nodes) {
    if (node.role == Role::executor) {
      auto config = executor_config(flock, node);
      if (!config) continue;
      CHECK(fits_journal(config.value(), topology, {}).ok());
      Executor executor(config.value(), topology, {});
    } else if (node.role == Role::agent) {
      auto config = agent_config(flock, topology, AgentId{node.partition.value});
      auto policy = all_policies().make(flock.policy);
      if (!config || !policy) continue;
      CHECK(check_journal(config.value(), {}).ok());
      Agent agent(config.value(), topology, *speed, std::move(policy).value(), Rng(1), {});
    }
  }
}

TEST_CASE("live jobs share GPUs where simulated ones do") {
  const Made made;
  Deployment flock = read_deployment(made.flock.dir).value();
  flock.policy = "lif";
  for (const auto& [physics, jobs] : {std::pair{"trace", 1U}, {"full", 2U}, {"full:goodput", 2U}}) {
    CAPTURE(physics);
    flock.physics = physics;
    const auto config = agent_config(flock, made.topology, AgentId{0});
    REQUIRE(config.ok());
    CHECK(config.value().limits.jobs_per_gpu == jobs);
  }
}

TEST_CASE("deployment.json with any value changed: told, or harmless") {
  const Made made;
  const fs::path file = made.flock.dir / "deployment.json";
  std::size_t refused = 0;
  const std::size_t all = each_change(parsed(file), [&](const std::string& place, const json& j) {
    CAPTURE(place);
    std::ofstream(file) << j.dump();
    const auto read = read_deployment(made.flock.dir);
    if (read) return live_with(read.value(), made.topology);
    ++refused;
    CHECK(read.error().code == Errc::invalid);
    CHECK(read.error().message.find("deployment.json: ") != std::string::npos);
  });
  CHECK(all > 2000);
  CHECK(refused > all / 2);
  for (const char* text : {"", "{", "[]", "null", "\xff\xfe", "{\"nodes\": [[[[[["}) {
    std::ofstream(file) << text;
    CHECK(read_deployment(made.flock.dir).error().code == Errc::invalid);
  }
}

TEST_CASE("flock.json with any value changed: told, or harmless") {
  const Made made;
  const fs::path file = made.flock.dir / "flock.json";
  json whole = parsed(file);
  for (json& member : whole["members"]) {
    if (member["role"] == "agent")
      member["standby"] = json::array({{{"address", "tcp://127.0.0.1:9"}, {"key", member["key"]}}});
  }
  each_change(whole, [&](const std::string& place, const json& j) {
    CAPTURE(place);
    std::ofstream(file) << j.dump();
    const auto read = read_flock(file);
    if (!read) CHECK(read.error().message.find("flock.json: ") != std::string::npos);
  });
  CHECK(read_flock(made.flock.dir).error().code == Errc::invalid);
}

TEST_CASE("a node's config.json with any value changed: told, or harmless") {
  const Made made;
  const fs::path file = made.flock.node_dir("agent-0") / "config.json";
  each_change(parsed(file), [&](const std::string& place, const json& j) {
    CAPTURE(place);
    std::ofstream(file) << j.dump();
    const auto read = read_node_file(file);
    if (read) return;
    CHECK(read.error().code == Errc::invalid);
    CHECK(read.error().message.find("config.json: ") != std::string::npos);
  });
}

TEST_CASE("wrong fields are named") {
  const Made made;
  const fs::path file = made.flock.dir / "deployment.json";
  const json whole = parsed(file);
  const auto told = [&](const char* place, const json& value) {
    json changed = whole;
    changed[json::json_pointer(place)] = value;
    std::ofstream(file) << changed.dump();
    const auto read = read_deployment(made.flock.dir);
    return read ? std::string("taken") : read.error().message.substr(file.string().size() + 2);
  };
  CHECK(told("/speedup", "fast") == "speedup: is not a number from 1e-06 to 200000");
  CHECK(told("/launcher", "docker") == "launcher: 'docker' is wrong; it is process or emulated");
  CHECK(told("/nodes/0/id", -1) == "nodes[0].id: is not a whole number from 0 to 4294967295");
  CHECK(told("/nodes/2/servers", json::array({1})) == "nodes[2].servers: is not [FIRST, LAST + 1]");
  CHECK(told("/nodes/1/partition", 9) ==
        "node 'agent-1': partition: 9 is not one of 0 to 1, one for each agent");
  CHECK(told("/nodes/1/name", "agent-0") == "node 'agent-0': name: another node has it, too");
}

TEST_CASE("a data centre with more or fewer servers is told in one sentence") {
  const Made made;
  CHECK(fits_topology(made.flock, made.topology).ok());
  for (std::uint32_t n = 1; n <= 9; ++n) {
    if (n == 4) continue;
    const Status fits = fits_topology(made.flock, servers(n));
    REQUIRE_FALSE(fits.ok());
    CHECK(fits.error().code == Errc::invalid);
    CHECK(fits.error().message.find("give it back the topology") != std::string::npos);
    CHECK(fits.error().message.find('\n') == std::string::npos);
  }
  CHECK(fits_topology(made.flock, servers(3))
            .error()
            .message.starts_with("executor-1 serves server 1, and partition 0 of topology.yaml has "
                                 "server 0; the flock was made for another data centre"));
}

}  // namespace
}  // namespace starling
