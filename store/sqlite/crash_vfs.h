// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace starling {

/// For tests, in a process of its own: SQLite's disk, whose power fails before its n-th call. What
/// was written and not yet synced is lost but for the first so many writes, the last of them torn
/// if one likes.
struct PowerCut {
  std::uint64_t at_call = 0;  ///< of writes, syncs and truncations, from 1; 0: never
  std::uint32_t kept = 0;     ///< unsynced writes that reached the disk
  bool torn = false;          ///< half of one more did
};

namespace crash_vfs {

struct Write {
  sqlite3_file* file;
  sqlite3_int64 offset, size_before;
  std::vector<char> before, after;
};

struct Disk {
  sqlite3_vfs* real = nullptr;
  PowerCut cut;
  std::uint64_t calls = 0;
  std::vector<Write> unsynced;
};
inline Disk disk;

struct File {
  sqlite3_file base;
  sqlite3_file* real;
};
inline sqlite3_file* real_of(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

/// Ends the process if the power fails now.
inline void call() {
  if (++disk.calls != disk.cut.at_call) return;
  const std::size_t kept = disk.cut.kept;
  for (std::size_t i = disk.unsynced.size(); i-- > kept;) {
    const Write& w = disk.unsynced[i];
    if (!w.before.empty()) {
      w.file->pMethods->xWrite(w.file, w.before.data(), static_cast<int>(w.before.size()),
                               w.offset);
    }
    w.file->pMethods->xTruncate(w.file, w.size_before);
  }
  if (disk.cut.torn && kept < disk.unsynced.size()) {
    const Write& w = disk.unsynced[kept];
    w.file->pMethods->xWrite(w.file, w.after.data(), static_cast<int>(w.after.size() / 2),
                             w.offset);
  }
  ::_exit(9);
}

inline int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  call();
  sqlite3_file* real = real_of(file);
  Write w{real, offset, 0, {}, {}};
  real->pMethods->xFileSize(real, &w.size_before);
  const sqlite3_int64 there = w.size_before - offset;
  if (there > 0) {
    w.before.resize(static_cast<std::size_t>(there < size ? there : size));
    real->pMethods->xRead(real, w.before.data(), static_cast<int>(w.before.size()), offset);
  }
  const char* data = static_cast<const char*>(bytes);
  w.after.assign(data, data + size);
  disk.unsynced.push_back(std::move(w));
  return real->pMethods->xWrite(real, bytes, size, offset);
}
inline int sync(sqlite3_file* file, int flags) {
  call();
  std::erase_if(disk.unsynced, [&](const Write& w) { return w.file == real_of(file); });
  return real_of(file)->pMethods->xSync(real_of(file), flags);
}
inline int truncate(sqlite3_file* file, sqlite3_int64 size) {
  call();
  std::erase_if(disk.unsynced, [&](const Write& w) { return w.file == real_of(file); });
  return real_of(file)->pMethods->xTruncate(real_of(file), size);
}
inline int close(sqlite3_file* file) {
  std::erase_if(disk.unsynced, [&](const Write& w) { return w.file == real_of(file); });
  return real_of(file)->pMethods->xClose(real_of(file));
}

inline const sqlite3_io_methods kMethods = {
    2,
    close,
    [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
      return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
    },
    write,
    truncate,
    sync,
    [](sqlite3_file* f, sqlite3_int64* n) {
      return real_of(f)->pMethods->xFileSize(real_of(f), n);
    },
    [](sqlite3_file* f, int how) { return real_of(f)->pMethods->xLock(real_of(f), how); },
    [](sqlite3_file* f, int how) { return real_of(f)->pMethods->xUnlock(real_of(f), how); },
    [](sqlite3_file* f, int* out) {
      return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
    },
    [](sqlite3_file* f, int op, void* arg) {
      return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
    },
    [](sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); },
    [](sqlite3_file* f) { return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
    },
    [](sqlite3_file* f, int at, int n, int flags) {
      return real_of(f)->pMethods->xShmLock(real_of(f), at, n, flags);
    },
    [](sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); },
    [](sqlite3_file* f, int erase) { return real_of(f)->pMethods->xShmUnmap(real_of(f), erase); },
    nullptr,
    nullptr};

inline int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
  auto* mine = reinterpret_cast<File*>(file);
  mine->real = reinterpret_cast<sqlite3_file*>(mine + 1);
  const int code = disk.real->xOpen(disk.real, name, mine->real, flags, out);
  mine->base.pMethods = mine->real->pMethods != nullptr ? &kMethods : nullptr;
  return code;
}

}  // namespace crash_vfs

/// From now on this process's SQLite writes to such a disk.
inline void install(const PowerCut& cut) {
  using crash_vfs::disk;
  static sqlite3_vfs vfs;
  disk.real = sqlite3_vfs_find(nullptr);
  disk.cut = cut;
  vfs = *disk.real;
  vfs.zName = "power-cut";
  vfs.szOsFile = static_cast<int>(sizeof(crash_vfs::File)) + disk.real->szOsFile;
  vfs.xOpen = crash_vfs::open;
  sqlite3_vfs_register(&vfs, 1);
}

}  // namespace starling
