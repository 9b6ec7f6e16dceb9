// SPDX-License-Identifier: Apache-2.0
#include "launch/client/fresh_ids.h"

#include <sys/random.h>

#include <algorithm>
#include <limits>

#include "launch/system/signals.h"

namespace starling {

namespace {

/// Agents answer within milliseconds of one another, or one of them has something else to do.
constexpr Duration kAlone = std::chrono::milliseconds(300);

}  // namespace

AgentId first_home(const Session& session, JobId id) {
  return AgentId{static_cast<std::uint32_t>(id.lo % session.agents())};
}

Result<JobId> FreshIds::next(Duration patience) {
  std::uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    return {Errc::io, "the system has no random numbers"};
  JobId id{random[0], random[1]};
  const std::uint32_t drawn = first_home(session_, id).value;
  const Instant begun = Session::now();
  while (answered_[drawn] == 0 && !stop_requested()) {
    const bool any = first_answer_ != kNever;
    if (any && (others_will_do_ || Session::now() >= later(first_answer_, kAlone))) break;
    if (Session::now() - begun > patience) break;
    ask();
  }
  if (answered_[drawn] != 0) return id;
  others_will_do_ = true;  // the next job does not wait for it again
  std::vector<std::uint64_t> homes;
  for (std::size_t a = 0; a < answered_.size(); ++a) {
    if (answered_[a] != 0) homes.push_back(a);
  }
  if (homes.empty()) return {Errc::not_ready, "no agent answers; is the flock up?"};
  const auto n = std::uint64_t{session_.agents()};
  id.lo -= id.lo % n;
  if (id.lo > std::numeric_limits<std::uint64_t>::max() - n) id.lo -= n;
  id.lo += homes[id.hi % homes.size()];
  return id;
}

void FreshIds::ask() {
  for (std::uint32_t a = 0; a < answered_.size(); ++a) {
    if (answered_[a] == 0) session_.send(agent_node(AgentId{a}), StatusQuery{});
  }
  const Instant again = Session::now() + std::chrono::milliseconds(100);
  while (const auto received = session_.receive(again)) {
    const std::uint32_t from = received->from.value;
    if (from == 0 || from > answered_.size()) continue;
    answered_[from - 1] = 1;
    if (first_answer_ == kNever) first_answer_ = Session::now();
    break;
  }
}

}  // namespace starling
