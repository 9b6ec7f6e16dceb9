// SPDX-License-Identifier: Apache-2.0
// What a node knows of the lives of its peers, and what they know of its own.
#include <algorithm>
#include <string>
#include <utility>

#include "bus/wire/node.h"
#include "bus/wire/roles.h"

namespace starling {
namespace {

constexpr Duration kTellEvery = std::chrono::milliseconds(500);

std::string records(std::uint64_t written) {
  return written == 0 ? "" : ", with " + std::to_string(written) + " records";
}

/// The records that this life of the sender began from: what it has written since says nothing of
/// what it found. Earlier programs do not tell the two apart.
std::uint64_t found(const FrameHeader& header) {
  return header.began != 0 ? header.began - 1 : header.written;
}

}  // namespace

bool Node::old_copy(const FrameHeader& header, const Seen& seen) {
  if (header.incarnation != seen.incarnation) {
    const bool says = header.began != 0 || header.written != 0;
    const bool lacks = says && found(header) < seen.written;
    return header.incarnation < seen.incarnation || lacks;
  }
  return header.born != 0 && seen.born != 0 && header.born != seen.born;
}

bool Node::knows_beyond(NodeId peer, Incarnation begins, std::uint64_t written) const {
  const auto seen = seen_.find(peer);
  if (seen == seen_.end() || seen->second.born == 0) return false;
  return seen->second.incarnation >= begins || seen->second.written > written;
}

/// Late frames of a life that is over are answered, too: only that life itself listens to it.
/// Clients have no state.
void Node::tell_old_copy(Instant now, NodeId peer, const FrameHeader& header, Seen& seen) {
  if (options_.born == 0 || role_of(peer) == Role::client) return;
  if (later(seen.notified, kTellEvery) > now) return;
  seen.notified = now;
  ++counters_.old_copies;
  // No late frame, but a life that lacks something.
  if (header.incarnation >= seen.incarnation) refused();
  Goodbye goodbye{"you are life " + std::to_string(header.incarnation.value) +
                      records(found(header)) + "; I know your life " +
                      std::to_string(seen.incarnation.value) + records(seen.written),
                  seen.incarnation, seen.written, header.incarnation, header.born};
  out_.send.push_back({peer, std::move(goodbye)});
}

bool Node::hear_outlived(NodeId from, const Goodbye& goodbye) {
  if (goodbye.life == Incarnation{}) return false;
  const bool mine = goodbye.of_life == incarnation_ && goodbye.of_born == options_.born;
  if (!mine || role_of(from) == Role::client) return true;
  goodbye_ = goodbye.reason;
  if (!outlived_) outlived_ = Outlived{from, {}, 0};
  outlived_->life = std::max(outlived_->life, goodbye.life);
  outlived_->written = std::max(outlived_->written, goodbye.written);
  if (options_.sole && !failed_) failed_ = Error{Errc::fenced, goodbye.reason};
  return true;
}

/// It is written down: of agents whenever it grows, of executors each life. One that was set back
/// would else pass for the newest where its agent has begun anew, and what an earlier life of it
/// had said, and comes late, for the word of a later one.
void Node::learn(NodeId peer, const FrameHeader& header, Seen& seen) {
  if (header.born == 0 || (seen.born == header.born && header.written <= seen.written)) return;
  const bool life = seen.born != header.born;
  seen.born = header.born;
  seen.written = header.written;
  if (options_.born == 0) return;
  const bool one_of_ours = role_of(me_) == Role::agent && role_of(peer) == Role::executor;
  if (role_of(peer) == Role::agent || (life && one_of_ours)) news_.insert(peer);
}

void Node::recall(std::span<const Record> recovered) {
  for (const Record& record : recovered) {
    if (const auto* read = std::get_if<TopologyRead>(&record)) topology_read_ = read->fingerprint;
    const auto* known = std::get_if<PeerKnown>(&record);
    if (known == nullptr) continue;
    if (known_.contains(known->node) || known_.size() < limits_.peers) known_[known->node] = *known;
  }
}

/// Along with what is written anyway: the records that the peer's word led to, if any.
void Node::keep_known() {
  for (const NodeId peer : news_) {
    const Seen& seen = seen_.at(peer);
    known_[peer] = {peer, seen.incarnation, seen.born, seen.written};
    out_.persist.push_back(known_[peer]);
  }
  news_.clear();
}

std::vector<Record> Node::with_known(std::vector<Record> records) const {
  for (const auto& [peer, known] : known_) records.push_back(known);
  // Executors say themselves what they have read; agents' journals keep what is in them.
  const bool said = std::any_of(records.begin(), records.end(), [](const Record& record) {
    return std::holds_alternative<TopologyRead>(record);
  });
  // In front: whatever is lost of the end, the numbers before it keep their meaning.
  if (topology_read_ != 0 && !said) records.insert(records.begin(), TopologyRead{topology_read_});
  return records;
}

Status Node::compact_to(std::vector<Record> records) {
  return journal_->compact(with_known(std::move(records)));
}

}  // namespace starling
