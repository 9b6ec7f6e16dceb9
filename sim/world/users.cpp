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

const Users::Wish* Users::wish(JobId job) const {
  const auto at = index_.find(job);
  return at == index_.end() ? nullptr : &wishes_[at->second];
}

std::uint32_t Users::place_of(JobId job) const {
  const Wish* known = wish(job);
  return known == nullptr ? 0 : known->place;
}

void Users::wants(std::uint32_t place, Instant due, JobSpec spec, AgentId home) {
  if (deaths_ && index_.emplace(spec.id, wishes_.size()).second) {
    Wish wish;
    wish.spec = spec;
    wish.due = due;
    wish.home = home;
    wish.place = place;
    wish.told.job = spec.id;
    wish.told.due = due;
    wish.told.home = home;
    wishes_.push_back(std::move(wish));
  }
  clients_[place]->submit(due, std::move(spec), home);
}

void Users::dies(std::uint32_t place) {
  Client* const client = std::exchange(clients_[place], nullptr);
  if (client == nullptr) return;
  ++died_;
  add(past_, client->counts());
  for (const JobOutcome& outcome : client->jobs()) {
    Wish& wish = wishes_[index_.at(outcome.job)];
    wish.told = outcome;
    wish.sent = wish.sent || outcome.sent;
    wish.cancelled = wish.cancelled || outcome.cancelled;
  }
}

void Users::born_again(std::uint32_t place, Client& client, Instant now,
                       const std::function<bool(JobId)>& takes_up) {
  clients_[place] = &client;
  for (Wish& wish : wishes_) {
    if (wish.place != place || wish.left || wish.told.over()) continue;
    if (wish.sent && !takes_up(wish.spec.id)) {
      wish.left = true;
      left_.push_back(wish.spec.id);
    } else {
      client.submit(std::max(now, wish.due), wish.spec, wish.home);
    }
  }
}

std::optional<std::uint32_t> Users::cancel(JobId job) {
  for (std::uint32_t place = 0; place < places(); ++place) {
    Client* const client = clients_[place];
    const JobOutcome* known = client == nullptr ? nullptr : client->find(job);
    if (known == nullptr) continue;
    // A client takes what it has not sent for nobody's; the last one may have sent it.
    if (const Wish* wanted = wish(job); wanted != nullptr && wanted->sent && !known->sent) continue;
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
  const Wish* known = wish(job);
  return known == nullptr ? nullptr : &known->told;
}

bool Users::cancelled(JobId job) const {
  const Wish* known = wish(job);
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
