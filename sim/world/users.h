// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/client.h"
#include "base/flat_index.h"

namespace starling {

/// The people of a simulated world: what each of them wants, and what their clients were told. A
/// client has no memory of its own beyond its life, so when it dies its user knows the ids of the
/// jobs (`starling submit` prints each before it is offered) and nothing else. The next client
/// submits what the last one never sent, and takes up some of the others under the same id, at the
/// same home; the rest is not asked about any more: it was accepted as a whole, or not at all.
///
/// A place is one user's; at most one client lives at it.
class Users {
 public:
  struct WantedJob {
    JobSpec spec;
    Instant due;
    AgentId home;  ///< the first one: an id that is submitted again goes where it went before
    std::uint32_t place = 0;
    JobOutcome told;  ///< to clients that are dead by now; the last of them
    bool sent = false, cancelled = false;
    bool left = false;  ///< no client follows it any more
  };

  /// Without `deaths` no client ever dies, and what is wanted is the clients' alone.
  Users(std::uint32_t places, bool deaths) : clients_(places, nullptr), deaths_(deaths) {}

  [[nodiscard]] std::uint32_t places() const noexcept {
    return static_cast<std::uint32_t>(clients_.size());
  }
  /// The client that lives there; null: none does.
  [[nodiscard]] Client* client(std::uint32_t place) const { return clients_[place]; }
  /// Whose job it is.
  [[nodiscard]] std::uint32_t place_of(JobId job) const;

  /// One more job that the user there wants. Their client, which lives, is told of it.
  void wants(std::uint32_t place, Instant due, JobSpec spec, AgentId home);
  void born(std::uint32_t place, Client& client) { clients_[place] = &client; }
  /// The client there is about to be no more.
  void dies(std::uint32_t place);
  /// A new client lives there; it submits, and takes up what `takes_up` says of each open job that
  /// was sent before. `now`: on its clock.
  void born_again(std::uint32_t place, Client& client, Instant now,
                  const std::function<bool(JobId)>& takes_up);
  /// The place whose living client follows the job, and cancels it; none: no client does, or it was
  /// sent by one that is dead and not yet by the next.
  std::optional<std::uint32_t> cancel(JobId job);

  /// What the last client that cared for it knew, or knows; null: there is no such job. Valid until
  /// the next call.
  [[nodiscard]] const JobOutcome* find(JobId job) const;
  /// In the order in which they were wanted; of worlds with deaths.
  [[nodiscard]] const std::vector<WantedJob>& wanted() const noexcept { return wanted_; }
  /// A client cancelled it, in whichever life.
  [[nodiscard]] bool cancelled(JobId job) const;
  /// Of all clients, the dead ones too: what two of them were told counts twice.
  [[nodiscard]] Client::Counts counts() const;
  /// Every client lives and has an answer for all that it follows, and `is_over` says so of what
  /// was accepted and no client follows.
  [[nodiscard]] bool all_over(const std::function<bool(JobId)>& is_over) const;
  [[nodiscard]] std::uint64_t deaths() const noexcept { return died_; }

 private:
  [[nodiscard]] const WantedJob* find_wanted(JobId job) const;

  std::vector<Client*> clients_;  // by place
  bool deaths_;
  std::vector<WantedJob> wanted_;
  FlatIndex<JobId> index_;
  mutable std::vector<JobId> left_;  // that may not be over
  Client::Counts past_;              // of the dead
  std::uint64_t died_ = 0;
};

}  // namespace starling
