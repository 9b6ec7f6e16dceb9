// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/guarded_part.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "launch/guardian/guardian.h"
#include "launch/guardian/life_lock.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/guardian_program.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/process_tree.h"

namespace starling {
namespace {

int open_control(const std::filesystem::path& folder) {
  return ::open((folder / "control").c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

GuardedPart::GuardedPart(GuardedPart&& other) noexcept
    : folder_(std::move(other.folder_)),
      plan_(std::move(other.plan_)),
      control_(std::exchange(other.control_, -1)),
      child_(other.child_),
      id_(std::move(other.id_)),
      gone_(other.gone_),
      nothing_started_(other.nothing_started_),
      result_(std::move(other.result_)) {}

GuardedPart& GuardedPart::operator=(GuardedPart&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(plan_, other.plan_);
  std::swap(control_, other.control_);
  std::swap(child_, other.child_);
  std::swap(id_, other.id_);
  std::swap(gone_, other.gone_);
  std::swap(nothing_started_, other.nothing_started_);
  std::swap(result_, other.result_);
  return *this;
}

GuardedPart::~GuardedPart() {
  if (control_ >= 0) ::close(control_);
}

Result<GuardedPart> GuardedPart::start(const std::filesystem::path& folder, PartPlan plan) {
  if (::mkdir(folder.c_str(), 0700) != 0)
    return {Errc::io, "cannot make '" + folder.string() + "': " + std::strerror(errno)};
  GuardedPart part(folder);
  plan.made_ns = boot_ns();
  Status made = put_file(folder / "plan", encode(plan));
  part.plan_ = std::move(plan);
  if (made.ok() && ::mkfifo((folder / "control").c_str(), 0600) != 0)
    made = {Errc::io, "cannot make a FIFO in '" + folder.string() + "': " + std::strerror(errno)};
  if (made.ok() && (part.control_ = open_control(folder)) < 0)
    made = {Errc::io, "cannot open '" + folder.string() + "/control': " + std::strerror(errno)};
  if (made.ok()) {
    const Result<pid_t> child = start_guardian(folder);
    if (child.ok()) {
      part.child_ = child.value();
      return part;
    }
    made = child.error();
  }
  forget_part(folder);
  return made.error();
}

std::optional<GuardedPart> GuardedPart::find(const std::filesystem::path& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  GuardedPart part(folder);
  // A guardian that has not begun yet finds that the place is taken, and ends.
  if (take_folder(folder, GuardianId{})) return std::nullopt;
  part.id_ = taken_by(folder);
  if (part.id_ && part.id_->pid == 0) return std::nullopt;
  part.plan_ = read_plan(folder).value_or(PartPlan{});
  part.control_ = open_control(folder);
  return part;
}

/// A word that finds no room is said again by its sender.
void GuardedPart::say(ControlWord::Kind kind, std::int64_t at_ns) {
  if (control_ < 0) control_ = open_control(folder_);
  const ControlWord word{ControlWord::kMagic, kind, at_ns};
  if (control_ >= 0 && ::write(control_, &word, sizeof word) < 0) errno = 0;
}

void GuardedPart::wake() {
  if (child_ > 0 && !gone_) ::kill(child_, SIGCONT);
  if (id_ && id_->pid > 1 && !gone_ && is_there(*id_)) ::kill(id_->pid, SIGCONT);
}

GuardedPart::State GuardedPart::look() {
  if (!gone_ && child_ > 0) {
    int status = 0;
    const pid_t found = ::waitpid(child_, &status, WNOHANG);
    gone_ = found == child_ || (found < 0 && errno == ECHILD);
    nothing_started_ =
        found == child_ && WIFEXITED(status) && WEXITSTATUS(status) == kNothingStarted;
  } else if (!gone_) {
    if (!id_) id_ = taken_by(folder_);
    gone_ = id_ && !is_there(*id_);
  }
  if (!gone_) return State::guarded;
  const auto bytes = read_own_file(folder_ / "result", 1U << 20U);
  if (bytes.ok()) {
    if (auto result = decode_result(bytes.value())) {
      result_ = std::move(*result);
      return State::ended;
    }
  } else if (bytes.error().code != Errc::not_found) {
    return State::guarded;
  }
  return State::unguarded;
}

bool GuardedPart::clear() {
  PartCgroup cgroup;
  if (!plan_.cgroup.empty() && ::access(plan_.cgroup.c_str(), F_OK) == 0) {
    if (!cgroup.open(plan_.cgroup)) return false;  // it cannot be looked at
    cgroup.kill();
    if (cgroup.populated()) return false;
  }
  if (!plan_.mark.empty() && !kill_marked(plan_.mark)) return false;
  if (!kill_life_holders(folder_, plan_.user ? plan_.user->uid : ::geteuid())) return false;
  cgroup.remove();
  return true;
}

}  // namespace starling
