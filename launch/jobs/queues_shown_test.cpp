// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/queues_shown.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "workload/queue_file.h"

using namespace starling;

namespace {

QueueTree queues_said(const std::string& text) {
  const auto tree = parse_queue_file("q.yaml", text);
  REQUIRE_MESSAGE(tree.ok(), tree.error().message);
  return tree.value();
}

QueuesState some_queues() {
  QueuesState state;
  state.tree = queues_said(
      "default: research/misc\n"
      "queues:\n"
      "  - {name: classes}\n"
      "  - {name: research, guaranteed: 32, most: 64, weight: 2, users: [ada, bob], "
      "queues: [{name: vision, most_per_user: 8}, {name: misc}]}\n");
  state.tree.version = 7;
  state.uses = {{{"classes", ""}, 4, 1, 0},
                {{"research", ""}, 20, 12, 9},
                {{"research/vision", ""}, 16, 10, 9},
                {{"research/vision", "ada"}, 8, 8, 9}};
  return state;
}

}  // namespace

TEST_CASE("queues stand below one another, users below leaves") {
  QueuesState state = some_queues();
  const std::string text = queues_table(state);
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  CHECK_MESSAGE(has("\nclasses                0     -    4     1       0       1\n"), text);
  CHECK_MESSAGE(has("\nresearch              32    64   20    12       9       2\n"), text);
  CHECK_MESSAGE(has("\n  misc                 0     -    0     0       0       1\n"), text);
  CHECK_MESSAGE(has("\n  vision               0     -   16    10       9       1\n"), text);
  CHECK_MESSAGE(has("\n    user ada                 8    8     8       9"), text);
  CHECK(has("jobs that name no queue are in research/misc\n"));
  CHECK_FALSE(has("not go by these queues"));
  state.unaware = {AgentId{1}, AgentId{3}};
  CHECK(queues_table(state).find("agent-1, agent-3 do not go by these queues yet\n") !=
        std::string::npos);
}

TEST_CASE("as JSON they are what a file of queues may say") {
  const QueuesState state = some_queues();
  const nlohmann::json all = queues_json(state);
  CHECK(all["version"] == 7);
  QueueTree again = queues_said(all["tree"].dump());
  again.version = 7;
  CHECK(again == state.tree);
  REQUIRE(all["uses"].size() == 4);
  CHECK_FALSE(all["uses"][0].contains("user"));
  CHECK(all["uses"][3] ==
        nlohmann::json{
            {"queue", "research/vision"}, {"user", "ada"}, {"may", 8}, {"used", 8}, {"wanted", 9}});
  CHECK(all["unaware"].empty());
}

TEST_CASE("changes of queues are told in words") {
  const QueueTree before = some_queues().tree;
  CHECK(queue_changes(before, before).empty());
  const QueueTree after = queues_said(
      "queues:\n"
      "  - {name: night, most: 4, guaranteed: 1, weight: 3, users: [eve]}\n"
      "  - {name: open}\n"
      "  - {name: research, guaranteed: 32, most: 48, users: [ada], "
      "queues: [{name: vision}, {name: misc}]}\n");
  CHECK(queue_changes(before, after) ==
        std::vector<std::string>{
            "classes: removed", "night: added, guaranteed 1, most 4, weight 3, users eve",
            "open: added, no limits", "research: most 64 -> 48", "research: weight 2 -> 1",
            "research: users ada, bob -> ada", "research/vision: most_per_user 8 -> -",
            "default: research/misc -> none"});
  CHECK(queue_changes({}, after).front() ==
        "night: added, guaranteed 1, most 4, weight 3, users eve");
}

TEST_CASE("guarantees beyond what there is are told") {
  const QueueTree tree = queues_said(
      "queues:\n"
      "  - {name: a, queues: [{name: b, guaranteed: 3}, {name: c, guaranteed: 4}]}\n"
      "  - {name: d, guaranteed: 2, queues: [{name: e, guaranteed: 1}]}\n");
  CHECK(guarantees_beyond(tree, 9).empty());
  CHECK(guarantees_beyond(tree, 8) ==
        "the queues are guaranteed 9 GPUs together, and the flock has 8: not all of that can be "
        "met");
  CHECK(guarantees_beyond({}, 0).empty());
}
