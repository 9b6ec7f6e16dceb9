// SPDX-License-Identifier: Apache-2.0
#include "launch/flock/flock_backup.h"

#include <unistd.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "agents/record.h"
#include "base/hash.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/flock_paths.h"
#include "launch/deployment/old_state.h"
#include "launch/hosts/host_flock.h"
#include "launch/system/dates.h"
#include "launch/system/files.h"
#include "store/etcd/etcd_copy.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/sqlite_backup.h"
#include "store/sqlite/sqlite_journal.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 1;
constexpr const char* kManifest = "backup.json";

Result<std::string> hash_of(const fs::path& file) {
  const auto text = read_text(file);
  if (!text) return text.error();
  TraceHash hash;
  hash.add(std::string_view(text.value()));
  std::ostringstream out;
  out << std::hex << hash.value();
  return out.str();
}

fs::path state_of(const std::string& node) { return fs::path("nodes") / node / "state"; }

/// What is left out: other people's files, their places in the flock, logs and output of jobs,
/// state (copied as such), what belongs to processes, what was on its way to a host, and tokens:
/// one of a backup may have been revoked since.
bool left_out(const fs::path& relative) {
  const std::string name = relative.filename().string();
  if (!relative.has_parent_path()) {
    static const std::set<std::string> of_commands{
        "supervisor", "restart",  "configure",           "keeper",
        "bin",        "node.log", "gateway-tokens.json", "deployment.next.json",
        kOwnFolder};
    return of_commands.contains(name) || name.starts_with("copy-") || !is_flock_name(name);
  }
  if (relative.parent_path() == "nodes" && name.starts_with(granted_name(""))) return true;
  const std::string parent = relative.parent_path().parent_path().filename().string();
  static const std::set<std::string> of_processes{"jobs",   "state", "log",
                                                  "health", "parts", "gpu-locks"};
  if (parent == "nodes" && of_processes.contains(name)) return true;
  const auto ends = [&](std::string_view end) {
    return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
  };
  return ends(".lock") || ends(".new") || ends(".log") || name == "in-use" || name == "pid";
}

/// Copies the regular files below `from` that are not left out. What changes them renames new ones
/// over them, so each is whole.
Status copy_tree(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  auto at = fs::recursive_directory_iterator(from, failed);
  if (failed) return cannot("read", from, failed);
  for (; at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (failed) return cannot("read", from, failed);
    const fs::path relative = at->path().lexically_relative(from);
    const fs::file_status status = at->symlink_status(failed);
    if (left_out(relative)) {
      if (fs::is_directory(status)) at.disable_recursion_pending();
      continue;
    }
    if (fs::is_directory(status)) {
      fs::create_directories(to / relative, failed);
      if (!failed) fs::permissions(to / relative, status.permissions(), failed);
    } else if (fs::is_regular_file(status)) {
      fs::copy_file(at->path(), to / relative, failed);
      // One that has gone meanwhile was not the flock's.
      if (failed == std::errc::no_such_file_or_directory) failed.clear();
    }
    if (failed) return cannot("copy", at->path(), failed);
  }
  return done();
}

/// The state of one node, as of one moment. Nothing where it has none yet.
Status copy_state(const fs::path& flock, const fs::path& to, const DeployedNode& node, bool journal,
                  BackedUp& out) {
  const fs::path from = flock / state_of(node.name);
  std::error_code failed;
  if (!fs::exists(from, failed)) return done();
  const fs::path copy = to / state_of(node.name);
  if (Status made = make_folder(copy, 0700); !made.ok()) return made;
  BackedUp::Node entry{node.name};
  if (journal && fs::exists(from / "journal.db", failed)) {
    const auto last = back_up_journal(from / "journal.db", copy / "journal.db");
    if (!last) return last.error();
    entry.records = last.value();
    for (const char* file : {"journal.db", "journal.db.head"})
      fs::permissions(copy / file, fs::perms::owner_read | fs::perms::owner_write, failed);
  }
  // After the journal: so it counts all lives that the journal has.
  for (const char* file : {"incarnation", "name", "told"}) {
    if (!fs::exists(from / file, failed)) continue;
    fs::copy_file(from / file, copy / file, failed);
    if (failed) return cannot("copy", from / file, failed);
  }
  if (const auto text = read_text(copy / "incarnation"))
    entry.life = std::strtoull(text.value().c_str(), nullptr, 10);
  if (node.role == Role::agent || node.role == Role::executor) out.nodes.push_back(entry);
  return done();
}

Status write_manifest(const fs::path& dir, BackedUp& out) {
  json files = json::array(), nodes = json::array();
  std::set<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(dir))
    if (entry.is_regular_file()) paths.insert(entry.path());
  for (const fs::path& path : paths) {
    const auto hash = hash_of(path);
    if (!hash) return hash.error();
    files.push_back({{"path", path.lexically_relative(dir).string()},
                     {"bytes", fs::file_size(path)},
                     {"hash", hash.value()}});
    if (Status synced = make_durable(path); !synced.ok()) return synced;
  }
  for (const BackedUp::Node& node : out.nodes)
    nodes.push_back({{"name", node.name}, {"records", node.records}, {"life", node.life}});
  out.files = files.size();
  const json manifest{{"schema", kSchema}, {"made", out.made}, {"nodes", nodes}, {"files", files}};
  return write_text(dir / kManifest, manifest.dump(1) + "\n", 0600);
}

Result<BackedUp> fill(const Deployment& deployment, const fs::path& to) {
  const fs::path& flock = deployment.dir;
  BackedUp out;
  out.made = formatted(std::chrono::system_clock::now(), "%Y-%m-%d %H:%M:%S UTC", Zone::utc);
  if (const Status copied = copy_tree(flock, to); !copied.ok()) return copied.error();
  const bool in_etcd = !deployment.state.empty();
  std::map<PartitionId, EtcdCopy::Partition> partitions;
  if (in_etcd) {
    const auto address = etcd_address(deployment);
    if (!address) return address.error();
    if (const Status copied = copy_from_etcd(address.value(), to / kEtcdCopy); !copied.ok())
      return copied.error();
    auto copy = check_etcd_copy(to / kEtcdCopy);
    if (!copy) return copy.error();
    partitions = std::move(copy.value().partitions);
  }
  for (const Role role : {Role::agent, Role::executor, Role::client}) {
    for (const DeployedNode* node : deployment.with_role(role)) {
      if (is_granted(*node)) continue;
      if (role == Role::agent && in_etcd) {
        const EtcdCopy::Partition& copy = partitions[node->partition];
        out.nodes.push_back({node->name, copy.position, copy.life});
        continue;
      }
      const Status copied = copy_state(flock, to, *node, role != Role::client, out);
      if (!copied.ok()) return copied.error();
    }
  }
  if (const Status written = write_manifest(to, out); !written.ok()) return written.error();
  return out;
}

Result<BackedUp> read_manifest(const fs::path& backup, json& files) {
  const auto text = read_text(backup / kManifest);
  if (!text && text.error().code == Errc::not_found)
    return Error{Errc::invalid, backup.string() + " is not a backup: it has no " + kManifest};
  if (!text) return text.error();
  try {
    const json j = json::parse(text.value());
    if (j.at("schema").get<int>() != kSchema)
      return Error{Errc::invalid, "the backup is of another version of the program"};
    BackedUp out;
    out.made = j.at("made").get<std::string>();
    for (const json& node : j.at("nodes")) {
      out.nodes.push_back({node.at("name").get<std::string>(),
                           node.at("records").get<std::uint64_t>(),
                           node.at("life").get<std::uint64_t>()});
    }
    files = j.at("files");
    out.files = files.size();
    return out;
  } catch (const json::exception& error) {
    return Error{Errc::invalid, (backup / kManifest).string() + ": " + error.what()};
  }
}

/// Nothing may lead out of the folder, nor be there that is not on the list.
Status check_files(const fs::path& backup, const json& files) {
  std::set<std::string> listed{kManifest};
  for (const json& entry : files) {
    const fs::path relative = fs::path(entry.at("path").get<std::string>()).lexically_normal();
    if (relative.is_absolute() || relative.begin()->string() == "..")
      return {Errc::invalid, "the backup names a file outside of it: " + relative.string()};
    const fs::path file = backup / relative;
    std::error_code failed;
    if (fs::symlink_status(file, failed).type() != fs::file_type::regular)
      return {Errc::invalid, "the backup lacks " + relative.string()};
    const auto hash = hash_of(file);
    if (!hash) return hash.error();
    if (hash.value() != entry.at("hash").get<std::string>())
      return {Errc::invalid, relative.string() + " is not as it was when the backup was made"};
    listed.insert(relative.string());
  }
  for (const auto& entry : fs::recursive_directory_iterator(backup)) {
    const std::string relative = entry.path().lexically_relative(backup).string();
    if (!entry.is_directory() && !listed.contains(relative))
      return {Errc::invalid, relative + " is not a part of the backup"};
  }
  return done();
}

Status check_journal_copy(const fs::path& backup, const BackedUp::Node& node) {
  const fs::path journal = backup / state_of(node.name) / "journal.db";
  std::error_code failed;
  if (!fs::exists(journal, failed)) return done();
  fs::path room = fs::temp_directory_path() / "starling-verify-XXXXXX";
  std::string name = room.string();
  if (::mkdtemp(name.data()) == nullptr) return {Errc::io, "cannot make a folder in /tmp"};
  const auto found = salvage_journal(journal, name);
  fs::remove_all(name, failed);
  if (!found) return found.error();
  if (found.value().last == node.records) return done();
  return {Errc::invalid, "the journal of " + node.name + " has " +
                             std::to_string(found.value().last) + " readable records, not " +
                             std::to_string(node.records)};
}

Status check_etcd(const fs::path& backup, const Deployment& deployment, const BackedUp& out) {
  if (deployment.state.empty()) return done();
  auto copy = check_etcd_copy(backup / kEtcdCopy);
  if (!copy) return copy.error();
  for (const BackedUp::Node& node : out.nodes) {
    const DeployedNode* agent = deployment.find(node.name);
    if (agent == nullptr || agent->role != Role::agent) continue;
    if (copy.value().partitions[agent->partition].position != node.records)
      return {Errc::invalid, "the journal of " + node.name + " is not as it was"};
  }
  return done();
}

}  // namespace

Result<BackedUp> back_up(const fs::path& flock, const fs::path& to) {
  const auto deployment = read_deployment(flock);
  if (!deployment) return deployment.error();
  if (is_host_flock(flock)) {
    const auto hosts = read_host_flock(flock);
    if (!hosts) return hosts.error();
    std::string where;
    for (const Host& host : hosts.value().hosts)
      where += (where.empty() ? "" : ", ") + host.name + ":" + host.directory;
    return Error{Errc::unsupported,
                 "the flock lives on several hosts, which keep their own state; stop it, and run "
                 "'starling backup --flock DIRECTORY NEW' on each in its directory (" +
                     where + ")"};
  }
  std::error_code failed;
  if (fs::exists(to, failed)) return Error{Errc::invalid, to.string() + " is there already"};
  const fs::path unfinished = to.string() + ".unfinished";
  fs::remove_all(unfinished, failed);
  if (const Status made = make_folder(unfinished, 0700); !made.ok()) return made.error();
  auto out = fill(deployment.value(), unfinished);
  if (out) {
    fs::rename(unfinished, to, failed);
    if (failed) out = cannot("rename", unfinished, failed);
  }
  if (!out) fs::remove_all(unfinished, failed);
  return out;
}

Result<BackedUp> verify_backup(const fs::path& backup) {
  json files;
  auto out = read_manifest(backup, files);
  if (!out) return out;
  try {
    if (const Status good = check_files(backup, files); !good.ok()) return good.error();
  } catch (const std::exception& error) {
    return Error{Errc::invalid, backup.string() + ": " + error.what()};
  }
  const auto deployment = read_deployment(backup);
  if (!deployment) return deployment.error();
  for (const BackedUp::Node& node : out.value().nodes)
    if (const Status good = check_journal_copy(backup, node); !good.ok()) return good.error();
  if (const Status good = check_etcd(backup, deployment.value(), out.value()); !good.ok())
    return good.error();
  return out;
}

}  // namespace starling
