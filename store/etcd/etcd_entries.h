// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/record.h"
#include "base/result.h"
#include "store/etcd/etcd_address.h"

namespace starling {

// How the journal of one partition lies in etcd. `head` names the generation that counts; its
// entries are numbered from 0, each a part of a batch of records with a checksum that covers its
// place. `end` says how many entries of which generation were durable; programs of earlier versions
// do not write it, and then it says nothing, or too little.

/// Far below the 1.5 MiB of a request that etcd takes, and a page of them is no burden to read.
constexpr std::size_t kEtcdEntryBytes = 128 * 1024;

/// A position (Journal::position()) is the generation above so many bits of a number of records,
/// which are more than a generation ever has.
constexpr unsigned kEtcdGenerationBits = 32;

[[nodiscard]] std::string etcd_end_key(const EtcdKeys& keys);
/// There while the partition's state is known to be an old copy (launch/deployment/etcd_loss.h).
[[nodiscard]] std::string etcd_told_key(const EtcdKeys& keys);
/// The life that an accepted loss began with, for a later one that takes the journal's word for it.
[[nodiscard]] std::string etcd_accepted_key(const EtcdKeys& keys);
/// What the partition's policy has learned (launch/deployment/etcd_memory.h).
[[nodiscard]] std::string etcd_memory_key(const EtcdKeys& keys);
[[nodiscard]] std::string etcd_generation(const EtcdKeys& keys, std::uint64_t generation);
[[nodiscard]] std::string etcd_entry_key(const EtcdKeys& keys, std::uint64_t generation,
                                         std::uint64_t seq);
[[nodiscard]] std::string etcd_chunk_key(const EtcdKeys& keys, std::uint64_t chunk);

[[nodiscard]] std::string etcd_head_text(std::uint64_t generation);
[[nodiscard]] Result<std::uint64_t> parse_etcd_head(const std::string& text);
struct EtcdEnd {
  std::uint64_t generation = 0, entries = 0;
};
[[nodiscard]] std::string to_text(const EtcdEnd& end);
[[nodiscard]] Result<EtcdEnd> parse_etcd_end(const std::string& text);

/// An entry's value; `last`: the batch ends with it.
[[nodiscard]] std::string etcd_entry(std::uint64_t generation, std::uint64_t seq, bool last,
                                     std::string_view part);
[[nodiscard]] std::string etcd_chunk(std::uint64_t chunk, std::string_view batch);
/// `invalid` says what is wrong with the value of a chunk.
[[nodiscard]] Status read_etcd_chunk(std::uint64_t chunk, std::string_view value,
                                     std::vector<Record>& records);

/// Puts together what the entries of one generation say, in the order of their keys.
class EtcdEntryReader {
 public:
  EtcdEntryReader(const EtcdKeys& keys, std::uint64_t generation)
      : keys_(keys), generation_(generation) {}

  /// Adds the records of a batch to `out` with its last entry. `invalid` names the entry that is
  /// damaged or missing; then no more may be added.
  Status add(std::string_view key, std::string_view value, std::vector<Record>& out);
  /// All have been added: is anything missing that `end` knows of?
  [[nodiscard]] Status finish(const EtcdEnd& end) const;
  /// Behind the last entry of the last whole batch.
  [[nodiscard]] std::uint64_t next_seq() const { return next_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  ///< of whole batches

 private:
  [[nodiscard]] Error damaged(const std::string& what) const;

  EtcdKeys keys_;
  std::uint64_t generation_ = 0, seq_ = 0, next_ = 0, bytes_ = 0;
  std::string batch_;
};

}  // namespace starling
