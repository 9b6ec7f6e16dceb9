// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/hash.h"
#include "store/etcd/etcd_entries.h"
#include "store/record_batch.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTitle = "starling-etcd-copy 1 ";
constexpr std::uint32_t kEnd = ~std::uint32_t{0};      // in the place of a key's length
constexpr std::uint32_t kLongest = 2U << 20U;          // of a key or value; etcd takes 1.5 MiB
constexpr std::int64_t kPage = 64;                     // keys read at a time
constexpr std::size_t kOps = 64, kBytes = 512 * 1024;  // written at a time, at most

/// A call may wait long: nothing depends on it.
constexpr EtcdOptions kPatient{std::chrono::seconds(30), std::chrono::seconds(10)};

std::string unfinished_key(const EtcdAddress& flock) { return etcd_root(flock) + "restoring"; }

std::uint64_t hash_of(std::uint64_t so_far, std::string_view key, std::string_view value) {
  TraceHash hash;
  hash.add(so_far);
  hash.add(key);
  hash.add(value);
  return hash.value();
}

/// Writes to a descriptor; remembers the first failure.
class Out {
 public:
  explicit Out(const fs::path& file)
      : fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    if (fd_ < 0) failed_ = errno;
  }
  ~Out() {
    if (fd_ >= 0) ::close(fd_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  void write(std::string_view bytes) {
    while (failed_ == 0 && !bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed_ = errno;
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// The error's number; 0: all is on disk.
  int finish() {
    if (failed_ == 0 && ::fsync(fd_) != 0) failed_ = errno;
    return failed_;
  }
  [[nodiscard]] int failed() const { return failed_; }

 private:
  int fd_ = -1, failed_ = 0;
};

using Visit = std::function<Status(const std::string& key, std::string value)>;

/// Calls `visit` for each key, relative to the flock, in their order; then, and only then, the copy
/// is known to be whole. The revision that it is of.
Result<EtcdCopy> read_copy(const fs::path& file, const Visit& visit) {
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::invalid, file.string() + ": " + what};
  };
  std::ifstream in(file, std::ios::binary);
  std::string title;
  if (!in || !std::getline(in, title)) return wrong("cannot be read");
  EtcdCopy copy;
  const std::string_view start = kTitle;
  const char* const last = title.data() + title.size();
  if (!title.starts_with(start) ||
      std::from_chars(title.data() + start.size(), last, copy.revision).ptr != last)
    return wrong("is no copy of a flock in etcd");
  const auto take = [&](std::size_t size) -> std::optional<std::string> {
    std::string bytes(size, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    return in ? std::optional(std::move(bytes)) : std::nullopt;
  };
  for (std::uint64_t hash = 0;;) {
    const auto sizes = take(8);
    if (!sizes) return wrong("is cut off");
    const auto key_size = get_whole<std::uint32_t>(*sizes);
    const auto value_size = get_whole<std::uint32_t>(std::string_view(*sizes).substr(4));
    if (key_size == kEnd) {
      const auto sum = take(8);
      if (!sum || get_whole<std::uint64_t>(*sum) != hash)
        return wrong("does not match its checksum");
      return copy;
    }
    if (key_size > kLongest || value_size > kLongest) return wrong("is damaged");
    const auto key = take(key_size);
    auto value = take(value_size);
    if (!key || !value) return wrong("is cut off");
    hash = hash_of(hash, *key, *value);
    ++copy.keys;
    if (const Status seen = visit(*key, std::move(*value)); !seen.ok())
      return wrong(seen.error().message);
  }
}

/// Reads the journals of a copy's partitions as their keys come along: archive/, end, epoch, head,
/// journal/.
class Checker {
 public:
  Status add(const std::string& key, const std::string& value) {
    constexpr std::string_view kPartition = "partition-";
    std::uint32_t number = 0;
    if (!key.starts_with(kPartition)) return done();
    const char* const last = key.data() + key.size();
    const char* const slash = std::from_chars(key.data() + kPartition.size(), last, number).ptr;
    if (slash == last || *slash != '/') return {Errc::invalid, "'" + key + "' is no key of ours"};
    if (const PartitionId p{number}; !now_ || *now_ != p) {
      if (Status whole = finish(); !whole.ok()) return whole;
      now_ = p;
    }
    const std::string name(slash + 1, last);
    const auto told = [&](const Status& s) {
      return s.ok() ? done() : Status(Errc::invalid, "'" + key + "' " + s.error().message);
    };
    if (name == "end") {
      const auto end = parse_etcd_end(value);
      if (!end) return told(end.error());
      end_ = end.value();
    } else if (name == "head") {
      const auto head = parse_etcd_head(value);
      if (!head) return told(head.error());
      generation_ = head.value();
      reader_.emplace(keys(), generation_);
    } else if (name.starts_with("archive/")) {
      std::uint64_t chunk = 0;
      std::from_chars(name.data() + 8, name.data() + name.size(), chunk, 16);
      std::vector<Record> records;
      return told(read_etcd_chunk(chunk, value, records));
    } else if (reader_ && ("/" + key).starts_with(etcd_generation(keys(), generation_))) {
      return reader_->add("/" + key, value, records_);
    }
    return done();
  }
  Status finish() {
    if (!now_) return done();
    if (reader_) {
      if (Status whole = reader_->finish(end_); !whole.ok()) return whole;
    }
    EtcdCopy::Partition& found = partitions_[*now_];
    found.position = (generation_ << kEtcdGenerationBits) + records_.size();
    for (const Record& record : records_)
      if (const auto* life = std::get_if<LifeBegan>(&record))
        found.life = std::max(found.life, life->incarnation.value);
    reader_.reset();
    records_.clear();
    end_ = {};
    generation_ = 0;
    return done();
  }
  std::map<PartitionId, EtcdCopy::Partition>& partitions() { return partitions_; }

 private:
  /// As if the flock's keys began with a slash alone.
  [[nodiscard]] EtcdKeys keys() const {
    EtcdKeys keys(EtcdAddress{}, *now_);
    const std::size_t root = etcd_root(EtcdAddress{}).size() - 1;
    for (std::string* key : {&keys.epoch, &keys.head, &keys.journal, &keys.archive})
      key->erase(0, root);
    return keys;
  }

  std::map<PartitionId, EtcdCopy::Partition> partitions_;
  std::optional<PartitionId> now_;
  std::optional<EtcdEntryReader> reader_;
  std::vector<Record> records_;
  EtcdEnd end_;
  std::uint64_t generation_ = 0;
};

}  // namespace

Status copy_from_etcd(const EtcdAddress& flock, const fs::path& file) {
  EtcdClient client(flock, kPatient);
  const std::string root = etcd_root(flock);
  Out out(file);
  std::uint64_t hash = 0;
  std::int64_t revision = 0;
  std::string from = root;
  for (bool more = true; more && out.failed() == 0;) {
    const auto page = client.range(from, behind(root), kPage, revision);
    if (!page) return page.error();
    if (revision == 0) {
      revision = page.value().revision;
      out.write(kTitle + std::to_string(revision) + "\n");
    }
    more = page.value().more && !page.value().entries.empty();
    for (const EtcdEntry& entry : page.value().entries) {
      from = entry.key + '\0';
      if (entry.lease != 0 || entry.key == unfinished_key(flock)) continue;
      const std::string key = entry.key.substr(root.size());
      std::string sizes;
      put_whole(static_cast<std::uint32_t>(key.size()), sizes);
      put_whole(static_cast<std::uint32_t>(entry.value.size()), sizes);
      out.write(sizes);
      out.write(key);
      out.write(entry.value);
      hash = hash_of(hash, key, entry.value);
    }
  }
  std::string end;
  put_whole(kEnd, end);
  put_whole(std::uint32_t{0}, end);
  put_whole(hash, end);
  out.write(end);
  if (const int why = out.finish(); why != 0)
    return {Errc::io, file.string() + ": cannot be written: " + std::strerror(why)};
  return done();
}

Result<EtcdCopy> check_etcd_copy(const fs::path& file) {
  Checker checker;
  auto copy = read_copy(file, [&](const std::string& key, const std::string& value) {
    return checker.add(key, value);
  });
  if (!copy) return copy;
  if (const Status whole = checker.finish(); !whole.ok())
    return {Errc::invalid, file.string() + ": " + whole.error().message};
  copy.value().partitions = std::move(checker.partitions());
  return copy;
}

Status copy_to_etcd(const EtcdAddress& flock, const fs::path& file,
                    const std::vector<EtcdOp>& more) {
  const auto copy = check_etcd_copy(file);
  if (!copy) return copy.error();
  EtcdClient client(flock, kPatient);
  const std::string root = etcd_root(flock), unfinished = unfinished_key(flock);
  const auto marker = client.get(unfinished);
  if (!marker) return marker.error();
  if (marker.value()) {
    if (const auto erased = client.erase_prefix(root); !erased) return erased.error();
  }
  const auto there = client.range(root, behind(root), 1);
  if (!there) return there.error();
  if (!there.value().entries.empty()) {
    return {Errc::conflict, flock.url() + " has the state of a flock already ('" +
                                there.value().entries.front().key +
                                "'); 'starling down --remove' of that flock removes it"};
  }
  if (there.value().revision < copy.value().revision) {
    return {
        Errc::unsupported,
        "this etcd has seen " + std::to_string(there.value().revision) +
            " writes, and that of the copy " + std::to_string(copy.value().revision) +
            ": epochs would begin again below those that executors have seen, and be refused; "
            "restore etcd itself from its newest snapshot ('etcdctl snapshot restore') and then "
            "this backup"};
  }
  std::vector<EtcdOp> ops{EtcdOp::put(unfinished, "")};
  std::size_t bytes = 0;
  const auto flush = [&]() -> Status {
    const auto put = client.txn({{}, std::exchange(ops, {}), {}});
    bytes = 0;
    return put ? done() : Status(put.error());
  };
  const auto put = read_copy(file, [&](const std::string& key, std::string value) -> Status {
    if (bytes + value.size() > kBytes || ops.size() >= kOps) {
      if (Status written = flush(); !written.ok()) return written;
    }
    bytes += value.size();
    ops.push_back(EtcdOp::put(root + key, std::move(value)));
    return done();
  });
  if (!put) return put.error();
  if (Status written = flush(); !written.ok()) return written;
  ops = more;
  ops.push_back(EtcdOp::erase(unfinished));
  return flush();
}

}  // namespace starling
