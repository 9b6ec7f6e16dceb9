// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/flock_paths.h"

#include <vector>

#include "base/check.h"

namespace starling {
namespace {

/// Folders of one kind, and the files that are in them.
struct KnownFiles {
  std::string folder;  ///< "": that which the list is of
  std::string files;   ///< "": none
};

constexpr const char* kJournal = R"(journal\.db(\.new)?(-wal|-shm|\.head|\.lock)?)";
/// A job's part on a server: attempt and server (launch/launchers).
constexpr const char* kPart = R"([0-9a-f]{32}(\.[0-9]+)+\.s[0-9a-z-]+)";

std::vector<KnownFiles> of_flock() {
  return {
      {"", R"((node|hosts|flock|deployment(\.next)?)\.json|(topology|health)\.yaml|flock-id)"
           R"(|up\.log(\.1)?|node\.log|own-folder|gateway-tokens\.json(\.lock)?)"},
      {"supervisor|rotation|configure", "in-use"},
      {"restart", "in-use|stopped"},
      {"copy-[^/]+", R"(starling-files\.tar)"},
      {"keeper", "in-use|stopping"},
      {"bin", R"(starling|\.new)"},
      {"servers", R"(([0-9]+|coming|next)\.json|[0-9]+\.yaml|refused)"},
      {"etcd", R"((ca|certificate|key)\.pem|password)"},
      {"nodes", ""},
  };
}

std::vector<KnownFiles> of_node() {
  const std::string journal = kJournal, part = kPart;
  return {
      {"", R"((config|keys|hardware)\.json|keys\.json\.flock|log|health|gpus|energy\.csv)"
           R"(|filler)"},  // of chaos, which fills disks
      {"sessions", ""},
      {"state|sessions/[0-9]+",
       R"(in-use|incarnation|name|told|accepting|reserve|(policy|speed)-[0-9]+)"
       R"(|salvage\.db(-wal|-shm|\.head)?|before-loss-[0-9]+\.etcd|)" +
           journal},
      {R"(state/before-loss-[0-9]+(\.new)?)", journal},
      {"seats", R"(agent-[0-9]+\.json(\.flock)?)"},
      {"jobs", "(" + part + R"(|trial)\.log(\.1|\.from)?|)" + part + R"(\.steps)"},
      {"gpu-locks", R"(gpu-[0-9a-z.-]+)"},
      {"parts", "in-use"},
      {"parts/(" + part + "|trial)", R"(alive|control|guardian|plan|room|result|claim\.[0-9]+)"},
  };
}

void either(std::string& all, const std::string& one) { all += (all.empty() ? "" : "|") + one; }

/// Adds what is below `prefix`, which ends in '/' or is empty.
void add(FlockPaths& paths, const std::string& prefix, const std::vector<KnownFiles>& list) {
  for (const KnownFiles& known : list) {
    std::string folder = prefix;
    if (!known.folder.empty()) {
      either(paths.folders, prefix + "(" + known.folder + ")");
      // Of neither a user's link can have been in the place.
      const bool stays = known.folder == "nodes" || known.folder.starts_with("copy-");
      if (!stays) either(paths.moved, prefix + "(" + known.folder + ")");
      folder += "(" + known.folder + ")/";
    }
    if (!known.files.empty()) either(paths.files, folder + "(" + known.files + R"()(\.new)?)");
  }
}

}  // namespace

FlockPaths flock_paths(const std::string& node) {
  FlockPaths paths;
  const std::string of_one = "nodes/(" + node + ")";
  add(paths, "", of_flock());
  either(paths.folders, of_one);
  add(paths, of_one + "/", of_node());
  return paths;
}

bool is_flock_name(const std::string& name) {
  static const FlockPaths paths = flock_paths("[^/]+");
  static const PathPattern files(paths.files), folders(paths.folders);
  return files.matches(name) || folders.matches(name);
}

PathPattern::PathPattern(const std::string& expression) {
  STARLING_CHECK(
      ::regcomp(&compiled_, ("^(" + expression + ")$").c_str(), REG_EXTENDED | REG_NOSUB) == 0);
}

bool PathPattern::matches(const std::string& path) const {
  return ::regexec(&compiled_, path.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace starling
