// SPDX-License-Identifier: Apache-2.0
// The format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
#include "store/sqlite/wal_check.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/planted.h"
#include "store/loss.h"

namespace starling {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // its lowest bit: words are big-endian
constexpr std::size_t kHeader = 32, kFrameHeader = 24;

using Bytes = std::span<const unsigned char>;

std::uint32_t big_endian(Bytes at) {
  return (std::uint32_t{at[0]} << 24U) | (std::uint32_t{at[1]} << 16U) |
         (std::uint32_t{at[2]} << 8U) | std::uint32_t{at[3]};
}
std::uint32_t little_endian(Bytes at) {
  return (std::uint32_t{at[3]} << 24U) | (std::uint32_t{at[2]} << 16U) |
         (std::uint32_t{at[1]} << 8U) | std::uint32_t{at[0]};
}

/// The running checksum over all frames so far.
struct Sum {
  bool big = false;
  std::uint32_t first = 0, second = 0;

  void add(Bytes bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const auto word = [&](std::size_t at) {
        return big ? big_endian(bytes.subspan(at)) : little_endian(bytes.subspan(at));
      };
      first += word(i) + second;
      second += word(i + 4) + first;
    }
  }
  [[nodiscard]] bool is(Bytes stored) const {
    return big_endian(stored) == first && big_endian(stored.subspan(4)) == second;
  }
};

Error damaged(const std::filesystem::path& log, const std::string& what) {
  return {Errc::invalid, "journal log '" + log.string() + "': " + what + kAfterLoss};
}

}  // namespace

Status check_write_ahead_log(const std::filesystem::path& database) {
  const std::filesystem::path log = database.string() + "-wal";
  std::ifstream in(log, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
  const Bytes all(reinterpret_cast<const unsigned char*>(content.data()), content.size());
  if (planted(Bug::log_damage_ignored)) return done();
  if (all.size() <= kHeader + kFrameHeader) return done();  // no frame was ever finished
  // The database has its first page before it has a log; SQLite removes the log of an empty one.
  std::error_code missing;
  const std::uintmax_t there = std::filesystem::file_size(database, missing);
  if (missing || there < 512) return damaged(log, "its database is gone");
  const Bytes header = all.first(kHeader);
  Sum sum;
  sum.big = (big_endian(header) & 1U) != 0;
  sum.add(header.first(24));
  const std::uint32_t page = big_endian(header.subspan(8));
  const bool known = (big_endian(header) & ~1U) == kMagic && page >= 512 && page <= 65536;
  // Synced before the first frame, and within one sector, so never torn.
  if (!known || !sum.is(header.subspan(24))) return damaged(log, "its header is damaged");

  const std::size_t size = kFrameHeader + page;
  bool good = true;
  std::size_t bad_at = 0, commits_behind = 0, frames_behind_commit = 0;
  for (std::size_t at = kHeader, n = 1; at + size <= all.size(); at += size, ++n) {
    const Bytes frame = all.subspan(at, size);
    const bool ours = big_endian(frame.subspan(8)) == big_endian(header.subspan(16)) &&
                      big_endian(frame.subspan(12)) == big_endian(header.subspan(20));
    if (good) {
      sum.add(frame.first(8));
      sum.add(frame.subspan(kFrameHeader));
      good = ours && sum.is(frame.subspan(16));
      if (good) continue;
      bad_at = n;
    }
    if (!ours) continue;  // of a log that this one has written over, or the damage itself
    if (commits_behind > 0) ++frames_behind_commit;
    if (big_endian(frame.subspan(4)) != 0) ++commits_behind;
  }
  if (frames_behind_commit == 0) return done();
  return damaged(log, "frame " + std::to_string(bad_at) + " is damaged, and " +
                          std::to_string(commits_behind) + " transactions stand behind it");
}

}  // namespace starling
