// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/host_part.h"

#include <system_error>
#include <utility>

#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/trial.h"
#include "launch/system/files.h"
#include "topology/file/load.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// A file that is there, on the disk; one that is not needs nothing.
Status durable_if_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) ? make_durable(file) : done();
}

/// The coming description in a file beside the one that counts.
Result<Deployment> write_coming(const fs::path& dir, const std::string& coming) {
  if (Status s = make_folder(dir / "servers"); !s.ok()) return s.error();
  const fs::path file = dir / "servers" / "coming.json";
  if (Status s = durably(file, write_text(file, coming)); !s.ok()) return s.error();
  return read_deployment_in(dir, file);
}

/// A host whose keeper does not run, and cannot begin while this lives.
struct Standing {
  StateDir place;
  Deployment now, next;
};

Result<Standing> standing(const fs::path& dir, const std::string& coming) {
  auto place = StateDir::take(dir / "keeper");
  if (!place) return place.error();
  auto now = read_deployment(dir);
  if (!now) return now.error();
  auto next = write_coming(dir, coming);
  if (!next) return next.error();
  return Standing{std::move(place).value(), std::move(now).value(), std::move(next).value()};
}

/// What came over the network for `next` outlives a power failure from here on.
Status make_files_durable(const Deployment& next, const std::string& host) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(next.dir / "servers", failed)) {
    if (Status s = make_durable(entry.path()); !s.ok()) return s;
  }
  if (failed) return cannot("read", next.dir / "servers", failed);
  for (const DeployedNode& node : next.nodes) {
    if (node.host != host) continue;
    for (const char* file : {"config.json", "keys.json"}) {
      if (Status s = durable_if_there(next.node_dir(node.name) / file); !s.ok()) return s;
    }
    if (Status s = make_durable(next.node_dir(node.name)); !s.ok()) return s;
  }
  if (Status s = make_durable(next.dir / "flock.json"); !s.ok()) return s;
  for (const char* folder : {"servers", "nodes"}) {
    if (Status s = make_durable(next.dir / folder); !s.ok()) return s;
  }
  return done();
}

}  // namespace

Result<std::string> host_generation(const fs::path& dir) {
  const auto flock = read_deployment(dir);
  if (!flock) return flock.error();
  const bool runs = !StateDir::take(dir / "keeper").ok();
  return std::to_string(flock.value().generation) + (runs ? " running" : " stopped");
}

Status try_host_servers(const fs::path& dir, const std::string& host, const std::string& coming) {
  const auto here = standing(dir, coming);
  if (!here) return here.error();
  const auto& [place, now, next] = here.value();
  const auto before = load_topology((dir / now.topology).string());
  if (!before) return {Errc::invalid, before.error().message};
  const auto after = load_topology((dir / next.topology).string());
  if (!after) return {Errc::invalid, after.error().message};
  Status health = health_files_allow(now, host, before.value(), after.value());
  if (!health.ok()) return health;
  HeldPartitions held(now);
  return try_servers(now, next, host, held);
}

Status take_host_servers(const fs::path& dir, const std::string& host, const std::string& coming) {
  const auto here = standing(dir, coming);
  if (!here) return here.error();
  const auto& [place, now, next] = here.value();
  if (next.generation <= now.generation) return done();
  if (Status s = make_files_durable(next, host); !s.ok()) return s;
  return rename_durably(dir / "servers" / "coming.json", dir / "deployment.json");
}

}  // namespace starling
