// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/state_dir.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "launch/system/files.h"
#include "launch/system/plain_file.h"
#include "launch/system/text.h"
#include "store/etcd/etcd_authority.h"

namespace starling {
namespace {

constexpr const char* kBegun = "journal\n";

/// A folder that is there for something else keeps its mode and gets no files.
Status is_ours(const std::filesystem::path& dir) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(dir, ignored) || std::filesystem::is_empty(dir, ignored))
    return done();
  for (const char* known : {"in-use", "incarnation", "name", "journal.db"}) {
    if (std::filesystem::exists(dir / known, ignored)) return done();
  }
  return {Errc::invalid, "'" + dir.string() +
                             "' holds files, and none of Starling's; name a folder that is empty, "
                             "or not there"};
}

}  // namespace

Result<StateDir> StateDir::take(const std::filesystem::path& dir) {
  if (auto ours = is_ours(dir); !ours.ok()) return ours.error();
  if (auto made = make_folder(dir, 0700); !made.ok()) return made.error();
  auto lock = LockFile::acquire(dir / "in-use");
  if (!lock) return lock.error();
  return StateDir(dir, std::move(lock).value());
}

std::optional<pid_t> StateDir::holder(const std::filesystem::path& dir) {
  const auto text = read_plain(dir / "in-use");
  if (!text) return std::nullopt;
  const auto pid = parse_whole(text.value().substr(0, text.value().find('\n')));
  if (!pid || *pid <= 1) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

Result<StateDir::Lives> StateDir::read_lives() const {
  const auto file = dir_ / "incarnation";
  const auto text = read_plain(file);
  if (!text && text.error().code == Errc::not_found) return Lives{};
  if (!text) return text.error();
  const auto end = text.value().find('\n');
  const auto number = parse_whole(text.value().substr(0, end));
  if (!number)
    return {
        Errc::invalid,
        file.string() + ": not a number; write one larger than that of any life in the node's log"};
  const bool begun = text.value().find(kBegun) != std::string::npos;
  return Lives{*number, begun};
}

Status StateDir::write_lives(const Lives& lives) const {
  const auto file = dir_ / "incarnation";
  const std::string text = std::to_string(lives.last) + "\n" + (lives.begun ? kBegun : "");
  if (auto written = write_text(file, text, 0600); !written.ok()) return written;
  for (const auto& path : {file, dir_}) {
    if (auto synced = make_durable(path); !synced.ok()) return synced;
  }
  return done();
}

Result<Incarnation> StateDir::next_incarnation() const {
  auto lives = read_lives();
  if (!lives) return lives.error();
  ++lives.value().last;
  if (auto written = write_lives(lives.value()); !written.ok()) return written.error();
  return Incarnation{lives.value().last};
}

std::uint64_t StateDir::lives() const {
  const auto lives = read_lives();
  return lives ? lives.value().last : 0;
}

Status StateDir::skip_lives(Incarnation life) const {
  auto lives = read_lives();
  if (!lives) return lives.error();
  lives.value().last = std::max(lives.value().last, life.value);
  return write_lives(lives.value());
}

bool StateDir::begun() const {
  const auto lives = read_lives();
  return lives && lives.value().begun;
}

Status StateDir::note_begun() const {
  auto lives = read_lives();
  if (!lives) return lives.error();
  if (std::exchange(lives.value().begun, true)) return done();
  return write_lives(lives.value());
}

Result<std::string> StateDir::name() const {
  const auto file = dir_ / "name";
  auto text = read_plain(file);
  if (text.ok() && !text.value().empty()) return text;
  if (!text.ok() && text.error().code != Errc::not_found) return text;
  const std::string fresh = new_holder();
  if (auto written = write_text(file, fresh, 0600); !written.ok()) return written.error();
  return fresh;
}

Incarnation after_last_life(Incarnation counted, std::span<const Record> recovered) {
  for (const Record& record : recovered) {
    const auto* life = std::get_if<LifeBegan>(&record);
    if (life != nullptr) counted.value = std::max(counted.value, life->incarnation.value + 1);
  }
  return counted;
}

}  // namespace starling
