#include "launch/flock_folder.h"

#include <algorithm>

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

}  // namespace

const std::vector<std::string>& flock_file_names() {
  static const std::vector<std::string> names{"supervisor",    "restart",    "rotation",
                                              "node.json",     "hosts.json", "flock-id",
                                              "servers",       "configure",  "deployment.next.json",
                                              "topology.yaml", "flock.json", "deployment.json",
                                              kUpLog,          "up.log.1",   "etcd"};
  return names;
}

Status can_take_folder(const fs::path& dir) {
  std::error_code error;
  const fs::file_status status = fs::status(dir, error);
  if (status.type() == fs::file_type::not_found) return done();
  if (status.type() != fs::file_type::directory)
    return {Errc::invalid, dir.string() + " is no folder; give a new or an empty one"};
  for (const std::string& name : names_in(dir)) {
    if (name == "supervisor" || name == "restart" || name == "rotation") continue;
    return {Errc::invalid, dir.string() + " holds no flock, and is not empty ('" + name +
                               "' is in it); give a new or an empty folder"};
  }
  return done();
}

Result<std::vector<std::string>> remove_flock_files(const fs::path& dir,
                                                    const std::vector<std::string>& nodes) {
  std::error_code error;
  for (const std::string& node : nodes) {
    const fs::path folder = dir / "nodes" / node;
    if (fs::remove_all(folder, error); error) return refused(folder, error);
  }
  if (fs::is_empty(dir / "nodes", error) && !error) fs::remove(dir / "nodes", error);
  std::vector<std::string> left;
  for (const std::string& name : names_in(dir / "nodes")) left.push_back("nodes/" + name);
  for (const std::string& name : flock_file_names()) {
    for (const char* rest : {".new", ""}) {
      const fs::path file = dir / (name + rest);
      if (fs::remove_all(file, error); error) return refused(file, error);
    }
  }
  for (const std::string& name : names_in(dir)) {
    if (name != "nodes") left.push_back(name);
  }
  if (!left.empty()) return left;
  std::error_code unknown;
  const bool here = fs::equivalent(dir, fs::current_path(unknown), unknown);
  if (!here && (fs::remove(dir, error), error)) return refused(dir, error);
  return left;
}

}  // namespace starling
