// SPDX-License-Identifier: Apache-2.0
#include "sim/world/users.h"

#include <algorithm>
#include <utility>

namespace starling {
namespace {

void add(Client::Counts& sum, const Client::Counts& more) {
  using C = Client::Counts;
  for (std::uint64_t C::*part :
       {&C::jobs, &C::sent, &C::accepted, &C::rejected, &C::started, &C::finished, &C::failed,
        &C::cancelled, &C::busy, &C::repeats, &C::refused_frames, &C::answers})
    sum.*part += more.*part;
}

}  // namespace

const Users::WantedJob* Users::find_wanted(JobId job) const {
  const std::uint32_t at = index_.find(job);
  return at == FlatIndex<JobId>::kNone ? nullptr : &wanted_[at];
}

std::uint32_t Users::place_of(JobId job) const {
  const WantedJob* known = find_wanted(job);
  return known == nullptr ? 0 : known->place;
}

void Users::wants(std::uint32_t place, Instant due, JobSpec spec, AgentId home) {
  if (deaths_ && index_.emplace(spec.id, wanted_.size())) {
    WantedJob wanted;
    wanted.spec = spec;
    wanted.due = due;
    wanted.home = home;
    wanted.place = place;
    wanted.told.job = spec.id;
    wanted.told.due = due;
    wanted.told.home = home;
    wanted_.push_back(std::move(wanted));
  }
  clients_[place]->submit(due, std::move(spec), home);
}

void Users::dies(std::uint32_t place) {
  Client* const client = std::exchange(clients_[place], nullptr);
  if (client == nullptr) return;
  ++died_;
  add(past_, client->counts());
  for (const JobOutcome& outcome : client->jobs()) {
    WantedJob& wanted = wanted_.at(index_.find(outcome.job));
    wanted.told = outcome;
    wanted.sent = wanted.sent || outcome.sent;
    wanted.cancelled = wanted.cancelled || outcome.cancelled;
  }
}

void Users::born_again(std::uint32_t place, Client& client, Instant now,
                       const std::function<bool(JobId)>& takes_up) {
  clients_[place] = &client;
  for (WantedJob& wanted : wanted_) {
    if (wanted.place != place || wanted.left || wanted.told.over()) continue;
    if (wanted.sent && !takes_up(wanted.spec.id)) {
      wanted.left = true;
      left_.push_back(wanted.spec.id);
    } else {
      client.submit(std::max(now, wanted.due), wanted.spec, wanted.home);
    }
  }
}

std::optional<std::uint32_t> Users::cancel(JobId job) {
  for (std::uint32_t place = 0; place < places(); ++place) {
    Client* const client = clients_[place];
    const JobOutcome* known = client == nullptr ? nullptr : client->find(job);
    if (known == nullptr) continue;
    // What it has not sent is of no client to it; the last one may have sent it.
    const WantedJob* wanted = find_wanted(job);
    if (wanted != nullptr && wanted->sent && !known->sent) continue;
    client->cancel(job);
    return place;
  }
  return std::nullopt;
}

const JobOutcome* Users::find(JobId job) const {
  for (const Client* const client : clients_) {
    if (client == nullptr) continue;
    if (const JobOutcome* told = client->find(job)) return told;
  }
  const WantedJob* known = find_wanted(job);
  return known == nullptr ? nullptr : &known->told;
}

bool Users::cancelled(JobId job) const {
  const WantedJob* known = find_wanted(job);
  const JobOutcome* told = find(job);
  return (known != nullptr && known->cancelled) || (told != nullptr && told->cancelled);
}

Client::Counts Users::counts() const {
  Client::Counts sum = past_;
  for (const Client* const client : clients_) {
    if (client != nullptr) add(sum, client->counts());
  }
  return sum;
}

bool Users::all_over(const std::function<bool(JobId)>& is_over) const {
  const bool told = std::all_of(clients_.begin(), clients_.end(), [](const Client* client) {
    return client != nullptr && client->all_over();
  });
  if (!told) return false;
  while (!left_.empty() && is_over(left_.back())) left_.pop_back();
  return left_.empty();
}

}  // namespace starling
