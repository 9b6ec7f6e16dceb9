// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/flock_folder.h"

#include <algorithm>

#include "launch/deployment/deployment.h"
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

/// Removes those of `names` that are in `dir`, and what writers of them leave beside them.
Status remove_names(const fs::path& dir, const std::vector<std::string>& names) {
  std::error_code error;
  for (const std::string& name : names) {
    for (const char* rest : {".new", ""}) {
      const fs::path file = dir / (name + rest);
      if (fs::remove_all(file, error); error) return refused(file, error);
    }
  }
  return done();
}

/// A folder goes if it is empty; else what is in it is left, by `name` of the folder.
Status remove_empty(const fs::path& dir, const std::string& name, std::vector<std::string>& left) {
  const std::vector<std::string> names = names_in(dir);
  for (const std::string& file : names) left.push_back(name + file);
  std::error_code error;
  if (names.empty() && (fs::remove(dir, error), error)) return refused(dir, error);
  return done();
}

/// nodes/NAME of the flock's nodes, and nodes/ itself.
Status remove_nodes(const fs::path& dir, const std::vector<std::string>& nodes,
                    std::vector<std::string>& left) {
  if (!is_folder(dir / "nodes")) return done();
  for (const std::string& node : nodes) {
    const fs::path folder = dir / "nodes" / node;
    if (!is_folder(folder)) continue;
    if (Status s = remove_names(folder, node_file_names()); !s.ok()) return s;
    if (Status s = remove_empty(folder, "nodes/" + node + "/", left); !s.ok()) return s;
  }
  std::vector<std::string> others;
  if (Status s = remove_empty(dir / "nodes", "nodes/", others); !s.ok()) return s;
  for (const std::string& other : others) {
    const auto inside = [&](const std::string& file) { return file.starts_with(other + "/"); };
    if (std::none_of(left.begin(), left.end(), inside)) left.push_back(other);
  }
  return done();
}

}  // namespace

const std::vector<std::string>& flock_file_names() {
  static const std::vector<std::string> names{
      "supervisor",    "restart",        "rotation",
      "node.json",     "hosts.json",     "flock-id",
      "servers",       "configure",      "deployment.next.json",
      "topology.yaml", "flock.json",     kUpLog,
      "up.log.1",      "etcd",           kOwnFolder,
      "health.yaml",   "deployment.json"};
  return names;
}

const std::vector<std::string>& node_file_names() {
  static const std::vector<std::string> names{
      "config.json", "keys.json", "keys.json.flock", "log",       "health",
      "state",       "sessions",  "seats",           "jobs",      "parts",
      "gpu-locks",   "gpus",      "hardware.json",   "energy.csv"};
  return names;
}

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
    return {Errc::invalid, dir.string() + " holds no flock, and is not empty ('" + name +
                               "' is in it); give a new or an empty folder"};
  }
  return done();
}

Result<std::vector<std::string>> remove_flock_files(const fs::path& dir,
                                                    const std::vector<std::string>& nodes) {
  std::vector<std::string> left, all = nodes;
  // Of servers that the flock has no longer.
  for (const std::string& name : names_in(dir / "nodes")) {
    const fs::path folder = dir / "nodes" / name;
    if (!is_folder(folder) || std::ranges::count(nodes, name) != 0) continue;
    const auto file = read_node_file(folder / "config.json");
    if (file && file.value().node == name) all.push_back(name);
  }
  if (const Status s = remove_nodes(dir, all, left); !s.ok()) return s.error();
  std::error_code error;
  const bool made = fs::exists(dir / kOwnFolder, error);
  if (const Status s = remove_names(dir, flock_file_names()); !s.ok()) return s.error();
  for (const std::string& name : names_in(dir)) {
    if (name != "nodes") left.push_back(name);
  }
  if (!left.empty() || !made) return left;
  std::error_code unknown;
  const bool here = fs::equivalent(dir, fs::current_path(unknown), unknown);
  if (!here && (fs::remove(dir, error), error)) return refused(dir, error);
  return left;
}

}  // namespace starling
