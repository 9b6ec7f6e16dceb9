// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/queue_index.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/rng.h"
#include "scheduling/waiting_changes.h"

namespace starling {
namespace {

TEST_CASE("changes say from where on a list has changed, or that they do not know") {
  WaitingChanges changes;
  CHECK(changes.least_since(0) == WaitingChanges::kNone);
  for (const std::uint64_t order : {7U, 3U, 9U}) changes.note(order);
  CHECK(changes.least_since(0) == 3);
  CHECK(changes.least_since(1) == 3);
  CHECK(changes.least_since(2) == 9);
  CHECK(changes.least_since(3) == WaitingChanges::kNone);
  CHECK(changes.least_since(4) == 0);  // another list's
  for (std::uint64_t order = 100; order < 300; ++order) changes.note(order);
  CHECK(changes.least_since(3) == 100);
  CHECK(changes.least_since(2) == 0);  // no longer kept
}

// One index is told what changed, the other one is not; both against what waits.
TEST_CASE("what is told of a list's changes leads to the same queue as a look at all of it") {
  Rng rng(11);
  std::vector<JobSpec> specs(3000);
  for (JobSpec& spec : specs) {
    spec.workers = 1 + rng.below(4);
    spec.priority = rng.chance(0.1) ? 1 : 0;
  }
  const auto key = [](const JobView& job) { return static_cast<std::int64_t>(job.order % 5); };
  for (const bool by_key : {false, true}) {
    const auto none = [](const JobView&) { return std::int64_t{0}; };
    const QueueIndex::KeyOf key_of = by_key ? QueueIndex::KeyOf(key) : QueueIndex::KeyOf(none);
    QueueIndex told(key_of, [](const JobSpec&) { return true; });
    QueueIndex looks(key_of, [](const JobSpec&) { return true; });
    std::map<std::uint64_t, JobView> list;
    WaitingChanges changes;
    std::uint64_t next = 0;
    for (int step = 0; step < 6000; ++step) {
      if (next < specs.size() && rng.chance(step < 3000 ? 0.7 : 0.4)) {
        JobView view;
        view.spec = &specs[next];
        view.order = next++;
        list.emplace(view.order, view);
        changes.note(view.order);
      } else if (!list.empty()) {
        auto which = list.begin();
        if (rng.chance(0.2))
          std::advance(which, rng.below(static_cast<std::uint32_t>(list.size())));
        if (which != list.begin()) changes.note(which->first);
        JobView view = which->second;
        list.erase(which);
        if (rng.chance(0.1)) {  // it comes back, having run
          view.served += Duration(1);
          list.emplace(view.order, view);
          changes.note(view.order);
        }
      }
      if (rng.chance(0.5)) continue;
      std::vector<JobView> waiting;
      for (const auto& [order, view] : list) waiting.push_back(view);
      told.sync(waiting, Instant{}, &changes);
      looks.sync(waiting, Instant{});
      REQUIRE(told.queue().size() == waiting.size());
      REQUIRE(looks.queue().size() == waiting.size());
      REQUIRE(told.total_gpus() == looks.total_gpus());
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        REQUIRE(told.queue()[i].order == looks.queue()[i].order);
        REQUIRE(told.queue()[i].served == told.job(told.queue()[i]).served);
      }
    }
  }
}

}  // namespace
}  // namespace starling
