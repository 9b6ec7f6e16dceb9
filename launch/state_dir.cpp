#include "launch/state_dir.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launch/files.h"
#include "launch/text.h"
#include "store/etcd_authority.h"

namespace starling {
namespace {

Error refused(const std::filesystem::path& what) {
  return {Errc::io, what.string() + ": " + std::strerror(errno)};
}

}  // namespace

Result<StateDir> StateDir::take(const std::filesystem::path& dir) {
  if (auto made = make_folder(dir, 0700); !made.ok()) return made.error();
  auto lock = LockFile::acquire(dir / "in-use");
  if (!lock) return lock.error();
  return StateDir(dir, std::move(lock).value());
}

Result<Incarnation> StateDir::next_incarnation() const {
  const auto file = dir_ / "incarnation";
  std::uint64_t last = 0;
  if (const auto text = read_text(file); text.ok()) {
    const auto number = parse_whole(text.value().substr(0, text.value().find('\n')));
    if (!number)
      return {
          Errc::invalid,
          file.string() +
              ": not a number; remove the state directory, or write a number larger than any used"};
    last = *number;
  } else if (text.error().code != Errc::not_found) {
    return text.error();
  }
  if (auto written = write_text(file, std::to_string(last + 1) + "\n", 0600); !written.ok())
    return written.error();
  for (const auto& path : {file, dir_}) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    if (!synced) return refused(path);
  }
  return Incarnation{last + 1};
}

Result<std::string> StateDir::name() const {
  const auto file = dir_ / "name";
  auto text = read_text(file);
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
