// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/adopted_state.h"

#include <chrono>

#include "launch/deployment/state_dir.h"
#include "store/sqlite/sqlite_journal.h"

namespace starling {

Status begin_beyond_the_lost(const Deployment& flock) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  for (const DeployedNode* executor : flock.with_role(Role::executor)) {
    if (!executor->host.empty()) continue;
    const auto state = StateDir::take(flock.node_dir(executor->name) / "state");
    if (!state) return state.error();
    if (Status s = state.value().skip_lives(Incarnation{seconds}); !s.ok()) return s;
    StoreOptions options;
    options.first = seconds << 20U;
    options.node = executor->id.value;
    const auto journal = SqliteJournal::open(state.value().path() / "journal.db", options);
    if (!journal) return journal.error();
  }
  return done();
}

}  // namespace starling
