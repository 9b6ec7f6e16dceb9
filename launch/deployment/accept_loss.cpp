// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/accept_loss.h"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "agents/accept_loss.h"
#include "base/counted.h"
#include "launch/deployment/etcd_loss.h"
#include "launch/deployment/old_state.h"
#include "launch/system/files.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/sqlite_journal.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

// So much more than any peer can know that none has to be asked: as many records as a node writes
// in a week at 1,000 a second.
constexpr std::uint64_t kSkippedRecords = 1'000'000'000;

/// Why the state lacks something; empty: nothing says so.
Result<std::string> what_is_lost(const DeployedNode& me, const fs::path& flock,
                                 const StateDir& dir) {
  auto opened = open_own_journal(me, flock, dir);
  if (!opened && opened.error().code != Errc::invalid) return opened.error();
  if (!opened) return opened.error().message;
  const auto records = opened.value()->recover();
  if (records || records.error().code != Errc::invalid)
    return records ? std::string() : Result<std::string>(records.error());
  return records.error().message;
}

/// Of an agent on this machine that does not run.
Result<std::vector<Record>> journal_of(const Deployment& deployment, const fs::path& flock,
                                       AgentId agent) {
  for (const DeployedNode* node : deployment.with_role(Role::agent)) {
    if (node->partition.value != agent.value) continue;
    const fs::path state = flock / "nodes" / node->name / "state";
    std::error_code ignored;
    if (!fs::exists(state / "journal.db", ignored)) break;
    const auto dir = StateDir::take(state);
    if (!dir) return dir.error();
    const auto told = read_told(dir.value());
    if (!told) return told.error();
    if (told.value() && !told.value()->restored) break;  // an old copy; the newer one may come back
    auto salvaged = salvage_journal(state / "journal.db", state);
    if (!salvaged) return salvaged.error();
    if (salvaged.value().known > salvaged.value().last) break;  // what it lacks may be about it
    return std::move(salvaged.value().records);
  }
  return {Errc::not_found, "its journal is not here, or lacks records"};
}

/// Copies the journal's files into a new folder beside them, durably; its name.
Result<fs::path> keep_files(const fs::path& journal) {
  std::error_code failed;
  const fs::path kept = unused_path(journal.parent_path() / "before-loss-");
  const fs::path unfinished = kept.string() + ".new";
  fs::remove_all(unfinished, failed);
  if (const Status made = make_folder(unfinished, 0700); !made.ok()) return made.error();
  for (const fs::path& file : journal_files(journal)) {
    const fs::path copy = unfinished / file.filename();
    fs::copy_file(file, copy, failed);
    if (failed) return cannot("copy", file, failed);
    if (const Status synced = make_durable(copy); !synced.ok()) return synced.error();
  }
  fs::rename(unfinished, kept, failed);
  if (failed) return cannot("rename", unfinished, failed);
  if (const Status synced = make_durable(journal.parent_path()); !synced.ok())
    return synced.error();
  return kept;
}

/// Puts `records` in the place of the journal whose files are kept elsewhere.
Status replace_journal(const fs::path& journal, const std::vector<Record>& records,
                       std::uint64_t first) {
  const fs::path fresh = journal.string() + ".new";
  std::error_code failed;
  for (const char* part : {"", "-wal", "-shm", ".head", ".lock"})
    fs::remove(fresh.string() + part, failed);
  {
    StoreOptions options;
    options.first = first;
    auto opened = SqliteJournal::open(fresh, options);
    if (!opened) return opened.error();
    if (Status written = opened.value()->append(records); !written.ok()) return written;
  }
  // Closed, so all of it is in one file. The old log goes before the new file comes: it must never
  // be played into that.
  for (const char* part : {"-wal", "-shm", ".head", ""}) {
    fs::remove(journal.string() + part, failed);
    if (failed) return cannot("remove", journal.string() + part, failed);
  }
  for (const char* part : {".head", ""}) {
    fs::rename(fresh.string() + part, journal.string() + part, failed);
    if (failed) return cannot("rename", fresh.string() + part, failed);
  }
  fs::remove(fresh.string() + ".lock", failed);
  return make_durable(journal.parent_path());
}

/// The folder of an acceptance that was interrupted, if there is one, in the file `accepting`.
Result<fs::path> kept_files(const fs::path& journal) {
  const fs::path marker = journal.parent_path() / "accepting";
  if (const auto name = read_text(marker); name && !name.value().empty())
    return journal.parent_path() / name.value();
  auto kept = keep_files(journal);
  if (!kept) return kept;
  if (const Status noted = write_text(marker, kept.value().filename().string(), 0600); !noted.ok())
    return noted.error();
  if (const Status synced = make_durable(marker); !synced.ok()) return synced.error();
  return kept;
}

}  // namespace

Result<AcceptedLoss> accept_loss(const fs::path& config, Role role) {
  const auto file = read_node_file(config);
  if (!file) return file.error();
  const auto deployment = read_deployment(file.value().flock);
  if (!deployment) return deployment.error();
  const DeployedNode* me = deployment.value().find(file.value().node);
  if (me == nullptr || me->role != role)
    return {Errc::invalid, config.string() + ": the flock has no such node"};
  const auto dir = StateDir::take(file.value().state);
  if (!dir) return dir.error();
  if (role == Role::agent && !deployment.value().state.empty())
    return accept_etcd_loss(deployment.value(), *me, dir.value());
  const fs::path journal = dir.value().path() / "journal.db";
  const fs::path marker = dir.value().path() / "accepting";
  const auto told = read_told(dir.value());
  if (!told) return told.error();
  std::error_code ignored;
  if (!fs::exists(marker, ignored)) {
    const auto lost = what_is_lost(*me, file.value().flock, dir.value());
    if (!lost) return lost.error();
    if (lost.value().empty()) return no_loss(*me);
  }
  const auto kept = kept_files(journal);
  if (!kept) return kept.error();
  auto salvaged = salvage_journal(kept.value() / journal.filename(), dir.value().path());
  if (!salvaged) return salvaged.error();
  AcceptedLoss loss;
  loss.kept = kept.value();
  loss.records = salvaged.value().records.size();
  loss.known = salvaged.value().known;
  std::uint64_t life = after_last_life({}, salvaged.value().records).value;
  life = std::max(life, dir.value().lives());
  if (told.value()) {
    loss.known = std::max(loss.known, told.value()->written);
    life = std::max(life, told.value()->life.value);
  }
  std::vector<Record> records = std::move(salvaged.value().records);
  if (role == Role::agent) {
    const std::vector<Record> ends = end_what_is_open(*me, records, loss, [&](AgentId home) {
      return journal_of(deployment.value(), file.value().flock, home);
    });
    records.insert(records.end(), ends.begin(), ends.end());
  }
  const Status skipped = dir.value().skip_lives(Incarnation{life + kSkippedLives});
  if (!skipped.ok()) return skipped.error();
  if (const Status replaced = replace_journal(journal, records, loss.known + kSkippedRecords);
      !replaced.ok())
    return replaced.error();
  if (const Status begun = dir.value().note_begun(); !begun.ok()) return begun.error();
  if (const Status forgotten = forget_told(dir.value()); !forgotten.ok()) return forgotten.error();
  fs::remove(marker, ignored);
  return loss;
}

std::vector<Record> end_what_is_open(
    const DeployedNode& me, const std::vector<Record>& records, AcceptedLoss& loss,
    const std::function<Result<std::vector<Record>>(AgentId)>& read) {
  std::map<AgentId, std::optional<std::map<JobId, std::uint32_t>>> known;
  const auto has = [&](AgentId home, const JobId& job, std::uint32_t offer) {
    const auto [at, fresh] = known.try_emplace(home);
    if (fresh) {
      if (const auto journal = read(home)) at->second = jobs_known_to(journal.value());
    }
    if (!at->second) return true;
    const auto there = at->second->find(job);
    return there != at->second->end() && there->second >= offer;
  };
  OpenJobs open = end_open_jobs(
      AgentId{me.partition.value}, records,
      "its outcome is unknown: " + me.name + " lost what it wrote last, and goes on without", has);
  loss.failed = open.failed.size();
  loss.given_away = open.given_away.size();
  return std::move(open.records);
}

Error no_loss(const DeployedNode& me) {
  return {Errc::not_found, "nothing says that the state of " + me.name +
                               " lacks anything; there is no loss to accept"};
}

std::string text_of(const AcceptedLoss& loss, const std::string& node) {
  std::string text = node + " goes on from " + counted(loss.records, "record");
  if (loss.known > 0) text += " (" + std::to_string(loss.known) + " were known to be written)";
  text += ";";
  text += " jobs that were open in them: " + std::to_string(loss.failed) +
          (loss.failed == 1 ? " fails" : " fail") + " with an unknown outcome, " +
          std::to_string(loss.given_away) + (loss.given_away == 1 ? " is" : " are") +
          " left to the agents that they were given to; what was there before is in " +
          loss.kept.string();
  return text;
}

}  // namespace starling
