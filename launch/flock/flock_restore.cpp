// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "launch/deployment/deployment.h"
#include "launch/deployment/etcd_loss.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/flock_paths.h"
#include "launch/deployment/old_state.h"
#include "launch/flock/flock_backup.h"
#include "launch/system/files.h"
#include "store/etcd/etcd_copy.h"
#include "store/sqlite/salvage.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

fs::path state_in(const fs::path& flock, const std::string& node) {
  return flock / "nodes" / node / "state";
}

/// How many records the node has written there; none: it cannot be said.
std::optional<std::uint64_t> written_in(const fs::path& flock, const std::string& node) {
  const fs::path state = state_in(flock, node);
  std::error_code failed;
  if (!fs::exists(state / "journal.db", failed)) return std::nullopt;
  const auto found = salvage_journal(state / "journal.db", state);
  if (!found || found.value().known != found.value().last) return std::nullopt;
  return found.value().known;
}

/// Whether a node of the flock that is there is itself an old copy, as far as is known.
Result<bool> is_told_in(const fs::path& flock, const std::string& node) {
  std::error_code failed;
  if (flock.empty() || !fs::exists(state_in(flock, node), failed)) return false;
  const auto state = StateDir::take(state_in(flock, node));
  if (!state) return state.error();
  const auto told = read_told(state.value());
  if (!told) return told.error();
  return told.value().has_value();
}

/// Where the flock that is there goes. `busy`: one of its nodes runs.
Result<fs::path> put_aside(const fs::path& flock, const BackedUp& backup) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(flock, failed)) {
    const std::string name = entry.path().filename().string();
    if (!is_flock_name(name))
      return Error{Errc::invalid, flock.string() + " holds more than a flock ('" + name +
                                      "'); give a new directory"};
  }
  for (const BackedUp::Node& node : backup.nodes) {
    const fs::path state = state_in(flock, node.name);
    if (!fs::exists(state, failed)) continue;
    if (const auto free = StateDir::take(state); !free)
      return Error{Errc::busy, node.name + " runs; 'starling down' first"};
  }
  return unused_path(flock.string() + ".before-restore-");
}

/// Marks the agents of which more may be known than their copy has.
Status mark_old_copies(const fs::path& fresh, const fs::path& before, Restored& restored) {
  const auto deployment = read_deployment(fresh);
  if (!deployment) return deployment.error();
  for (const BackedUp::Node& node : restored.backup.nodes) {
    const DeployedNode* known = deployment.value().find(node.name);
    if (known == nullptr || known->role != Role::agent || !deployment.value().state.empty())
      continue;
    // One that has not gone on since an earlier restore is as old as the copy.
    const auto told_before = is_told_in(before, node.name);
    if (!told_before) return told_before.error();
    const bool old = told_before.value();
    const auto written = before.empty() ? std::nullopt : written_in(before, node.name);
    if (written == node.records && !old) continue;
    const auto state = StateDir::take(state_in(fresh, node.name));
    if (!state) return state.error();
    Told told{Incarnation{node.life}, written.value_or(0), "the backup of " + restored.backup.made,
              true};
    if (Status noted = write_told(state.value(), told); !noted.ok()) return noted;
    restored.old_copies.push_back(node.name);
  }
  return done();
}

/// Puts into etcd what its agents had there, each told that it is an old copy.
Status restore_etcd(const fs::path& fresh, Restored& restored) {
  const auto deployment = read_deployment(fresh);
  if (!deployment) return deployment.error();
  if (deployment.value().state.empty()) return done();
  const auto flock = etcd_address(deployment.value());
  if (!flock) return flock.error();
  std::vector<EtcdOp> told;
  for (const BackedUp::Node& node : restored.backup.nodes) {
    const DeployedNode* agent = deployment.value().find(node.name);
    if (agent == nullptr || agent->role != Role::agent) continue;
    told.push_back(
        told_in_etcd(flock.value(), agent->partition,
                     {Incarnation{node.life}, 0, "the backup of " + restored.backup.made, true}));
    restored.old_copies.push_back(node.name);
  }
  if (Status put = copy_to_etcd(flock.value(), fresh / kEtcdCopy, told); !put.ok()) return put;
  std::error_code failed;
  fs::remove(fresh / kEtcdCopy, failed);
  return failed ? Status(cannot("remove", fresh / kEtcdCopy, failed)) : done();
}

}  // namespace

Result<Restored> restore_backup(const fs::path& backup, const fs::path& flock) {
  auto verified = verify_backup(backup);
  if (!verified) return verified.error();
  Restored restored{std::move(verified).value(), {}, {}};
  std::error_code failed;
  const bool there = fs::exists(flock, failed) && !fs::is_empty(flock, failed);
  if (there && !is_deployment(flock))
    return Error{Errc::invalid, flock.string() + " is no flock; give a new directory"};
  if (there) {
    auto aside = put_aside(flock, restored.backup);
    if (!aside) return aside.error();
    restored.aside = std::move(aside).value();
  }
  const fs::path fresh = flock.string() + ".restored";
  fs::remove_all(fresh, failed);
  if (const Status made = make_folder(fresh, 0700); !made.ok()) return made.error();
  fs::copy(backup, fresh, fs::copy_options::recursive, failed);
  if (failed) return cannot("copy", backup, failed);
  fs::remove(fresh / "backup.json", failed);
  if (const Status put = restore_etcd(fresh, restored); !put.ok()) return put.error();
  if (const Status marked = mark_old_copies(fresh, there ? flock : fs::path(), restored);
      !marked.ok())
    return marked.error();
  if (!fs::exists(flock, failed) || fs::exists(flock / kOwnFolder, failed)) {
    if (const Status own = note_own_folder(fresh); !own.ok()) return own.error();
  }
  if (there) fs::rename(flock, restored.aside, failed);
  if (failed) return cannot("rename", flock, failed);
  fs::rename(fresh, flock, failed);
  if (failed) return cannot("rename", fresh, failed);
  return restored;
}

}  // namespace starling
