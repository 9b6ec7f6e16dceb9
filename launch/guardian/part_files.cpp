// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/part_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "base/machine_clock.h"
#include "launch/guardian/process_stat.h"

namespace starling {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::uint64_t kFormatOfUsers = 2;  // a plan that says whose the part is
constexpr std::uint64_t kMostWords = 1U << 20U;
constexpr std::size_t kMostPlan = 64U << 20U;  // bytes

class Writer {
 public:
  void number(std::uint64_t n) { bytes_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void text(const std::string& t) { number(t.size()), bytes_ += t; }
  void texts(const std::vector<std::string>& all) {
    number(all.size());
    for (const std::string& t : all) text(t);
  }
  template <class T>
  void numbers(const std::vector<T>& all) {
    number(all.size());
    for (const T n : all) number(static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t n = 0;
    if (bytes_.size() - at_ < sizeof n) return ok_ = false, 0;
    std::memcpy(&n, bytes_.data() + at_, sizeof n);
    at_ += sizeof n;
    return n;
  }
  std::uint64_t count() {
    const std::uint64_t n = number();
    if (n > kMostWords) ok_ = false;
    return ok_ ? n : 0;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (!ok_ || bytes_.size() - at_ < size) return ok_ = false, std::string();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (std::uint64_t n = count(); ok_ && n > 0; --n) all.push_back(text());
    return all;
  }
  template <class T>
  std::vector<T> numbers() {
    std::vector<T> all;
    for (std::uint64_t n = count(); ok_ && n > 0; --n) all.push_back(static_cast<T>(number()));
    return all;
  }
  [[nodiscard]] bool whole() const { return ok_ && at_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// Empty: it cannot be told at present.
std::string boot_id() {
  thread_local std::string id;  // the same for as long as this process lives
  if (!id.empty()) return id;
  if (const auto text = read_own_file("/proc/sys/kernel/random/boot_id", 64))
    id = text.value().substr(0, 36);
  return id;
}

/// 0: no such process, or a dead one that waits to be collected. Nothing: it cannot be told.
std::optional<std::uint64_t> start_of(pid_t pid) {
  const auto stat = process_stat(pid);
  if (!stat) return std::nullopt;
  return stat->state == 'Z' || stat->state == 'X' ? 0 : stat->start;
}

}  // namespace

std::int64_t boot_ns() noexcept { return boot_time().time_since_epoch().count(); }

std::string encode(const PartPlan& plan) {
  Writer w;
  w.number(plan.user ? kFormatOfUsers : kFormat);
  w.number(static_cast<std::uint64_t>(plan.made_ns));
  w.text(plan.mark);
  w.number(static_cast<std::uint64_t>(plan.until_ns));
  w.number(static_cast<std::uint64_t>(plan.grace_ns));
  w.texts(plan.command);
  w.number(plan.workers.size());
  for (const PlannedWorker& worker : plan.workers) {
    w.texts(worker.environment);
    w.numbers(worker.cpus);
  }
  w.text(plan.log);
  w.number(plan.log_bytes);
  w.number(plan.tail_bytes);
  w.text(plan.cgroup);
  w.texts(plan.gpu_locks);
  w.numbers(plan.gpu_ids);
  w.numbers(plan.gpus);
  w.number(plan.slots);
  if (plan.user) {
    w.number(plan.user->uid);
    w.number(plan.user->gid);
    w.numbers(plan.user->groups);
  }
  return std::move(w).bytes();
}

std::optional<PartPlan> decode_plan(const std::string& bytes) {
  Reader r(bytes);
  const std::uint64_t format = r.number();
  if (format != kFormat && format != kFormatOfUsers) return std::nullopt;
  PartPlan plan;
  plan.made_ns = static_cast<std::int64_t>(r.number());
  plan.mark = r.text();
  plan.until_ns = static_cast<std::int64_t>(r.number());
  plan.grace_ns = static_cast<std::int64_t>(r.number());
  plan.command = r.texts();
  for (std::uint64_t n = r.count(); n > 0; --n) {
    PlannedWorker worker;
    worker.environment = r.texts();
    worker.cpus = r.numbers<int>();
    plan.workers.push_back(std::move(worker));
  }
  plan.log = r.text();
  plan.log_bytes = r.number();
  plan.tail_bytes = r.number();
  plan.cgroup = r.text();
  plan.gpu_locks = r.texts();
  plan.gpu_ids = r.numbers<std::uint64_t>();
  plan.gpus = r.numbers<std::uint64_t>();
  plan.slots = r.number();
  if (format == kFormatOfUsers) {
    PartUser user;
    user.uid = static_cast<uid_t>(r.number());
    user.gid = static_cast<gid_t>(r.number());
    user.groups = r.numbers<gid_t>();
    plan.user = std::move(user);
  }
  if (!r.whole() || plan.command.empty()) return std::nullopt;
  return plan;
}

std::string encode(const PartResult& result) {
  Writer w;
  w.number(kFormat);
  w.number(static_cast<std::uint64_t>(static_cast<std::int64_t>(result.code)));
  w.number((result.lost ? 1U : 0U) | (result.unfit ? 2U : 0U));
  w.number(static_cast<std::uint64_t>(result.began_ns));
  w.number(static_cast<std::uint64_t>(result.ended_ns));
  w.text(result.why);
  w.text(result.tail);
  return std::move(w).bytes();
}

std::optional<PartResult> decode_result(const std::string& bytes) {
  Reader r(bytes);
  if (r.number() != kFormat) return std::nullopt;
  PartResult result;
  result.code = static_cast<std::int32_t>(static_cast<std::int64_t>(r.number()));
  const std::uint64_t flags = r.number();
  result.lost = (flags & 1U) != 0;
  result.unfit = (flags & 2U) != 0;
  result.began_ns = static_cast<std::int64_t>(r.number());
  result.ended_ns = static_cast<std::int64_t>(r.number());
  result.why = r.text();
  result.tail = r.text();
  if (!r.whole()) return std::nullopt;
  return result;
}

Result<std::string> read_own_file(const std::filesystem::path& file, std::size_t most,
                                  std::optional<uid_t> owner) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return {errno == ENOENT ? Errc::not_found : Errc::io,
            "'" + file.string() + "': " + std::strerror(errno)};
  }
  struct stat info {};
  // What the kernel shows of itself belongs to root.
  const bool fine = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    (info.st_uid == ::geteuid() || info.st_uid == 0 || info.st_uid == owner);
  std::string text;
  ssize_t got = fine ? 1 : -1;
  char chunk[4096];
  while (fine && text.size() < most &&
         (got = ::read(fd, chunk, std::min(sizeof chunk, most - text.size()))) > 0) {
    text.append(chunk, static_cast<std::size_t>(got));
  }
  ::close(fd);
  if (got < 0) return {Errc::io, "'" + file.string() + "' is no file of ours, or cannot be read"};
  return text;
}

std::optional<PartPlan> read_plan(const std::filesystem::path& folder) {
  const auto bytes = read_own_file(folder / "plan", kMostPlan);
  return bytes ? decode_plan(bytes.value()) : std::nullopt;
}

Status put_file(const std::filesystem::path& file, const std::string& bytes) {
  const std::string fresh = file.string() + ".new";
  ::unlink(fresh.c_str());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool fine = fd >= 0;
  for (std::size_t done = 0; fine && done < bytes.size();) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    fine = put > 0;
    if (fine) done += static_cast<std::size_t>(put);
  }
  fine = fine && ::rename(fresh.c_str(), file.c_str()) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (fine) return done();
  return {Errc::io, "cannot write '" + file.string() + "': " + std::strerror(error)};
}

Status put_file_from(const std::filesystem::path& from, const std::filesystem::path& file,
                     const std::string& bytes) {
  const int fd = ::open(from.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  const auto size = static_cast<ssize_t>(bytes.size());
  const bool put = fd >= 0 && ::pwrite(fd, bytes.data(), bytes.size(), 0) == size &&
                   ::ftruncate(fd, size) == 0 && ::rename(from.c_str(), file.c_str()) == 0;
  if (fd >= 0) ::close(fd);
  if (put) return done();
  ::unlink(from.c_str());
  return put_file(file, bytes);
}

GuardianId own_id() {
  const pid_t me = ::getpid();
  return {me, start_of(me).value_or(0), boot_id()};
}

bool take_folder(const std::filesystem::path& folder, const GuardianId& id) {
  const std::filesystem::path mine = folder / ("claim." + std::to_string(::getpid()));
  const std::string text =
      std::to_string(id.pid) + " " + std::to_string(id.start) + " " + id.boot + "\n";
  if (!put_file(mine, text).ok()) return false;
  const bool first = ::link(mine.c_str(), (folder / "guardian").c_str()) == 0;
  ::unlink(mine.c_str());
  return first;
}

std::optional<GuardianId> taken_by(const std::filesystem::path& folder) {
  const auto text = read_own_file(folder / "guardian", 256);
  if (!text) return std::nullopt;
  std::istringstream words(text.value());
  GuardianId id;
  words >> id.pid >> id.start;
  if (!words || id.pid < 0) return std::nullopt;
  words >> id.boot;
  return id;
}

bool is_there(const GuardianId& id) {
  if (id.pid == 0) return false;
  const std::string boot = boot_id();
  if (!boot.empty() && !id.boot.empty() && id.boot != boot) return false;
  const auto start = start_of(id.pid);
  return !start || (*start != 0 && *start == id.start);
}

}  // namespace starling
