// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/flock_folder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "launch/deployment/deployment.h"
#include "launch/deployment/flock_paths.h"
#include "launch/processes/safe_folder.h"
#include "launch/system/files.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// What is in a folder, in order; empty where there is none.
std::vector<std::string> names_in(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Error refused(const fs::path& what, const std::error_code& why) {
  return {Errc::io, what.string() + ": " + why.message()};
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

/// Until they are gone the flock can be removed again, here and on other hosts.
bool goes_last(const std::string& path) { return path == "deployment.json" || path == "flock-id"; }

/// Where a removal fails half-way, the rest can still be removed: what leads to the state in etcd
/// and to the hosts goes after what there is most of.
int stage_of(const std::string& name) {
  return name == "nodes" ? 0 : name == "etcd" || name == "hosts.json" ? 2 : 1;
}

/// Removes what Starling made in a flock's directory.
class FlockRemoval {
 public:
  FlockRemoval(fs::path dir, const std::vector<std::string>& nodes)
      : dir_(std::move(dir)), nodes_(nodes.begin(), nodes.end()) {}
  /// In the folder `at`, relative to the directory; "": in that itself.
  Status clear(const std::string& at);
  /// Whether nothing is in it any more. What is there, if it came meanwhile, is told as left.
  [[nodiscard]] bool is_empty(const std::string& at);
  [[nodiscard]] std::vector<std::string> left() && {
    std::sort(left_.begin(), left_.end());
    return std::move(left_);
  }

 private:
  [[nodiscard]] bool is_own_folder(const std::string& path) const {
    constexpr std::string_view kNodes = "nodes/";
    if (!folders_.matches(path)) return false;
    if (!path.starts_with(kNodes)) return true;
    const std::string below = path.substr(kNodes.size());
    return nodes_.contains(below.substr(0, below.find('/')));
  }

  fs::path dir_;
  std::set<std::string> nodes_;
  FlockPaths paths_ = flock_paths("[^/]+");
  PathPattern files_{paths_.files}, folders_{paths_.folders}, moved_{paths_.moved};
  std::vector<std::string> left_;
};

bool FlockRemoval::is_empty(const std::string& at) {
  const std::vector<std::string> names = names_in(dir_ / at);
  for (const std::string& name : names) {
    const std::string path = at.empty() ? name : at + "/" + name;
    const bool told = std::ranges::any_of(left_, [&](const std::string& left) {
      return left == path || left.starts_with(path + "/");
    });
    if (!told) left_.push_back(path);
  }
  return names.empty();
}

Status FlockRemoval::clear(const std::string& at) {
  std::error_code error;
  std::vector<std::string> names = names_in(dir_ / at);
  if (at.empty()) std::ranges::stable_sort(names, {}, stage_of);
  for (const std::string& name : names) {
    const std::string path = at.empty() ? name : at + "/" + name;
    const fs::file_type type = fs::symlink_status(dir_ / path, error).type();
    bool goes = false;
    if (type == fs::file_type::directory) {
      if (is_own_folder(path)) {
        if (Status s = clear(path); !s.ok()) return s;
        if (!is_empty(path)) continue;
        goes = true;
      }
    } else {
      goes = files_.matches(path) || (type == fs::file_type::symlink && moved_.matches(path));
    }
    if (!goes) {
      left_.push_back(path);
    } else if (!goes_last(path)) {
      fs::remove(dir_ / path, error);
      if (error == std::errc::directory_not_empty && !is_empty(path)) continue;
      if (error) return refused(dir_ / path, error);
    }
  }
  return done();
}

}  // namespace

Status make_flock_folder(const fs::path& dir) {
  std::error_code ignored;
  const bool there = fs::exists(dir, ignored);
  if (Status safe = make_safe_folder(dir); !safe.ok()) return safe;
  return there ? done() : note_own_folder(dir);
}

Status note_own_folder(const fs::path& dir) {
  return write_text(dir / kOwnFolder,
                    "Starling made this folder; 'starling down --remove' removes it when nothing "
                    "else is in it.\n");
}

void undo_flock_folder(const fs::path& dir) {
  (void)remove_flock_files(dir, names_in(dir / "nodes"));
}

Status can_take_folder(const fs::path& dir) {
  std::error_code error;
  const fs::file_status status = fs::status(dir, error);
  if (status.type() == fs::file_type::not_found) return done();
  if (status.type() != fs::file_type::directory)
    return {Errc::invalid, dir.string() + " is no folder; give a new or an empty one"};
  for (const std::string& name : names_in(dir)) {
    if (name == "supervisor" || name == "restart" || name == "rotation" || name == kOwnFolder)
      continue;
    const std::string begun =
        is_flock_name(name) ? "; if a command that was killed before it had made its flock left "
                              "that, remove nodes, flock.json, topology.yaml and etcd in it"
                            : "";
    return {Errc::invalid, dir.string() + " holds no flock, and is not empty ('" + name +
                               "' is in it); give a new or an empty folder" + begun};
  }
  return done();
}

Result<std::vector<std::string>> remove_flock_files(const fs::path& dir,
                                                    const std::vector<std::string>& nodes) {
  std::vector<std::string> all = nodes;
  // Of servers that the flock has no longer.
  for (const std::string& name : names_in(dir / "nodes")) {
    const fs::path folder = dir / "nodes" / name;
    if (!is_folder(folder) || std::ranges::count(nodes, name) != 0) continue;
    const auto file = read_node_file(folder / "config.json");
    if (file && file.value().node == name) all.push_back(name);
  }
  std::error_code error;
  const bool made = fs::exists(dir / kOwnFolder, error);
  FlockRemoval removal(dir, all);
  if (const Status s = removal.clear(""); !s.ok()) return s.error();
  for (const char* last : {"flock-id", "deployment.json"}) {
    const fs::path file = dir / last;
    if (is_folder(file)) continue;
    if (fs::remove(file, error); error) return refused(file, error);
  }
  std::error_code unknown;
  const bool here = fs::equivalent(dir, fs::current_path(unknown), unknown);
  if (removal.is_empty("") && made && !here) {
    fs::remove(dir, error);
    const bool came = error == std::errc::directory_not_empty && !removal.is_empty("");
    if (error && !came) return refused(dir, error);
  }
  return std::move(removal).left();
}

}  // namespace starling
