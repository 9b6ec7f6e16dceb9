// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/old_state.h"

#include <sstream>
#include <utility>

#include "base/counted.h"
#include "launch/system/files.h"
#include "launch/system/plain_file.h"
#include "store/sqlite/sqlite_journal.h"

namespace starling {
namespace {

std::filesystem::path told_file(const StateDir& dir) { return dir.path() / "told"; }

/// As people write it, without a slash at the end.
std::string name_of(const std::filesystem::path& dir) {
  const std::filesystem::path plain = dir.lexically_normal();
  return (plain.has_filename() ? plain : plain.parent_path()).string();
}

/// How far a journal is. Positions of those in etcd have a generation in their upper half.
std::string records(std::uint64_t written) {
  const std::uint64_t generation = written >> 32U, n = written & 0xffff'ffffU;
  const std::string text = counted(n, "record");
  return generation == 0 ? text : text + " in generation " + std::to_string(generation);
}

}  // namespace

std::string to_text(const Told& told) {
  return "life " + std::to_string(told.life.value) + "\nwritten " + std::to_string(told.written) +
         "\n" + (told.restored ? "restored" : "told") + "\n" + told.by + "\n" +
         (told.at == 0 ? "" : "at " + std::to_string(told.at) + "\n");
}

bool is_old_copy(const Told& told, std::uint64_t written) {
  return told.restored || written < told.written || (told.at != 0 && written == told.at);
}

std::optional<Told> parse_told(const std::string& text) {
  Told told;
  std::istringstream in(text);
  std::string word, restored;
  in >> word >> told.life.value >> word >> told.written >> restored;
  std::getline(in >> std::ws, told.by);
  told.restored = restored == "restored";
  if (!in || told.by.empty()) return std::nullopt;
  in >> word >> told.at;  // earlier programs wrote none
  return told;
}

Result<std::optional<Told>> read_told(const StateDir& dir) {
  const auto text = read_plain(told_file(dir));
  if (!text && text.error().code == Errc::not_found) return std::optional<Told>();
  if (!text) return text.error();
  auto told = parse_told(text.value());
  if (!told) return {Errc::invalid, told_file(dir).string() + ": not what a node was told"};
  return told;
}

Status write_told(const StateDir& dir, const Told& told) {
  return write_text(told_file(dir), to_text(told), 0600);
}

Status forget_told(const StateDir& dir) {
  std::error_code failed;
  std::filesystem::remove(told_file(dir), failed);
  if (!failed) return done();
  return {Errc::io, told_file(dir).string() + ": " + failed.message()};
}

std::string old_copy_text(const DeployedNode& me, const std::filesystem::path& flock,
                          Incarnation life, std::uint64_t written, const Told& told) {
  const std::string lost =
      me.role == Role::agent
          ? "the jobs that were accepted since would be lost, and how those that are open in it "
            "ended (they would fail, with an unknown outcome)"
          : "what it was told and did since would be lost";
  std::string known =
      " (life " + std::to_string(life.value) + ", " + records(written) + ") is an old copy: ";
  if (told.restored) {
    known += "it is " + told.by + ", and it is not known what happened since";
  } else {
    known += told.by + " knows its life " + std::to_string(told.life.value);
    if (told.written > 0) known += ", with " + records(told.written);
  }
  return "the state of " + me.name + known + "; " + lost +
         "; put the newer state back, or go on without it: starling accept-loss " + me.name +
         " --flock " + name_of(flock);
}

Result<std::unique_ptr<Journal>> open_own_journal(const DeployedNode& me,
                                                  const std::filesystem::path& flock,
                                                  const StateDir& dir) {
  const auto file = dir.path() / "journal.db";
  std::error_code ignored;
  if (std::filesystem::exists(dir.path() / "accepting", ignored)) {
    return {Errc::invalid, "accepting the loss of records of " + me.name +
                               " was interrupted; again: starling accept-loss " + me.name +
                               " --flock " + name_of(flock)};
  }
  StoreOptions options;
  // Earlier versions did not say that they had begun; what they left is an empty file at most.
  options.begun = dir.begun() || (std::filesystem::exists(file, ignored) && dir.lives() > 1);
  options.node = me.id.value;
  options.reserve = true;
  auto opened = SqliteJournal::open(file, options);
  if (!opened) return opened.error();
  if (const Status begun = dir.note_begun(); !begun.ok()) return begun.error();
  const auto told = read_told(dir);
  if (!told) return told.error();
  if (!told.value()) return opened;
  const std::uint64_t written = opened.value()->position();
  const bool no_later = told.value()->written == 0 && dir.lives() <= told.value()->life.value;
  if (no_later || is_old_copy(*told.value(), written)) {
    return {Errc::invalid,
            old_copy_text(me, flock, Incarnation{dir.lives()}, written, *told.value())};
  }
  if (const Status forgotten = forget_told(dir); !forgotten.ok()) return forgotten.error();
  return opened;
}

}  // namespace starling
