// SPDX-License-Identifier: Apache-2.0
#include "workload/queue_file.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

QueueTree queues_of(const std::string& text) {
  const auto tree = parse_queue_file("q.yaml", text);
  REQUIRE_MESSAGE(tree.ok(), tree.error().message);
  return tree.value();
}

std::string wrong_queues(const std::string& text) {
  const auto tree = parse_queue_file("q.yaml", text);
  return tree ? "read" : tree.error().message;
}

const std::string kNestedQueues = R"(default: research/misc
queues:
  - name: research
    guaranteed: 32
    most: 64
    weight: 2
    users: [ada, bob]
    queues: [{name: vision, most: 16, most_per_user: 8}, {name: misc}]
  - name: classes
)";

}  // namespace

TEST_CASE("queues are nested, or named by whole paths") {
  const QueueTree tree = queues_of(kNestedQueues);
  CHECK(tree.version == 0);
  CHECK(tree.fallback == "research/misc");
  REQUIRE(tree.queues.size() == 4);
  CHECK(tree.queues[0].name == "classes");
  CHECK(tree.queues[0].most == QueueSpec::kNoLimit);
  CHECK(tree.queues[0].weight == 1);
  CHECK(tree.queues[1].name == "research");
  CHECK(tree.queues[1].guaranteed == 32);
  CHECK(tree.queues[1].most == 64);
  CHECK(tree.queues[1].weight == 2);
  CHECK(tree.queues[1].users == std::vector<std::string>{"ada", "bob"});
  CHECK(tree.queues[2].name == "research/misc");
  CHECK(tree.queues[3].name == "research/vision");
  CHECK(tree.queues[3].most_per_user == 8);
  CHECK(tree ==
        queues_of("queues:\n"
                  "  - {name: research/vision, most: 16, most_per_user: 8}\n"
                  "  - {name: classes}\n"
                  "  - {name: research, guaranteed: 32, most: 64, weight: 2, users: [ada, bob]}\n"
                  "  - {name: research/misc}\n"
                  "default: research/misc\n"));
  CHECK(tree == queues_of(R"({"default": "research/misc", "queues": [
      {"name": "research", "guaranteed": 32, "most": 64, "weight": 2, "users": ["ada", "bob"],
       "queues": [{"name": "vision", "most": 16, "most_per_user": 8}, {"name": "misc"}]},
      {"name": "classes"}]})"));
}

TEST_CASE("what is written reads the same") {
  QueueTree tree = queues_of(kNestedQueues);
  CHECK(queues_of(queue_file_text(tree)) == tree);
  tree = queues_of("queues: [{name: \"yes\", most: 0, users: [\"a: b\", \"12\", \"#c\"]}]");
  CHECK(tree.queues.front().most == 0);
  CHECK(queues_of(queue_file_text(tree)) == tree);
  CHECK(queues_of(queue_file_text({})) == QueueTree{});
}

TEST_CASE("a mistake is one message: where, what, and what would be right") {
  CHECK(wrong_queues("queues:\n  - {name: a, guarantee: 3}\n") ==
        "q.yaml:2:15: key 'guarantee' is unknown; did you mean 'guaranteed'?");
  CHECK(wrong_queues("fallback: a\nqueues: [{name: a}]\n") ==
        "q.yaml:1:1: key 'fallback' is unknown; keys are default, queues");
  CHECK(wrong_queues("queues:\n  - name: a\n    most: many\n") ==
        "q.yaml:3:11: most is 'many'; write a whole number from 0 to 1000000000");
  CHECK(wrong_queues("queues: [{name: a, weight: 0}]") ==
        "q.yaml:1:28: weight is '0'; write a whole number from 1 to 1000000");
  CHECK(wrong_queues("queues: [{name: a, most: -1}]").find("q.yaml:1:26: most is '-1'") == 0);
  CHECK(wrong_queues("queues: [{name: a, users: ada}]") ==
        "q.yaml:1:27: users is 'ada'; write a list, as [a, b]");
  CHECK(wrong_queues("queues: [{name: a, users: [ada, ada]}]") ==
        "q.yaml:1:27: users has 'ada' twice; write each name once");
  CHECK(wrong_queues("queues: [{name: a, users: []}]") ==
        "q.yaml:1:27: users is empty; name who may, or leave it out for whoever may above");
  CHECK(wrong_queues("queues:\n  - {name: a}\n  - {name: b}\n  - {name: a}\n") ==
        "q.yaml:4:12: queue 'a' is there twice; write all of it in one place");
  CHECK(wrong_queues("queues:\n  - {name: a, queues: [{name: b}]}\n  - {name: a/b}\n")
            .find("q.yaml:3:12: queue 'a/b' is there twice") == 0);
  CHECK(wrong_queues("queues: [{name: a, most: 1, most: 2}]") ==
        "q.yaml:1:29: key 'most' is there twice");
  CHECK(wrong_queues("queues: [{most: 1}]") ==
        "q.yaml:1:10: a queue has no name; write one, as name: research");
  CHECK(wrong_queues("queues: [a]") ==
        "q.yaml:1:10: a queue is 'a'; write a mapping, as {name: research, most: 64}");
  CHECK(
      wrong_queues("queues: {name: a}").find("q.yaml:1:9: queues is not one value; write a list") ==
      0);
  CHECK(wrong_queues("default: a").find("q.yaml:1:1: there are no queues") == 0);
  CHECK(wrong_queues("").find("a file of queues is empty; write a mapping") != std::string::npos);
  CHECK(wrong_queues("queues: [{name: a}]\n---\nb: 1\n").find("a second document starts") !=
        std::string::npos);
  CHECK(wrong_queues("queues: [{name: a").find("this is not YAML") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "{name: a, queues: [";
  deep += "{name: a}";
  for (int i = 0; i < 40; ++i) deep += "]}";
  CHECK(wrong_queues("queues: [" + deep + "]").find("deeper than 32 levels") != std::string::npos);
}

TEST_CASE("what check_queues says is told of the line of the queue") {
  CHECK(wrong_queues("queues:\n  - {name: a, most: 4}\n  - {name: b, most: 4, guaranteed: 8}\n")
            .find("q.yaml:3:") == 0);
  CHECK(wrong_queues("queues:\n  - {name: a}\n  - {name: b/c}\n").find("q.yaml:3:") == 0);
  CHECK(wrong_queues("queues:\n  - {name: a}\n  - {name: \"b\\ec\"}\n") ==
        "q.yaml:3:12: queue 'b?c': its name has control characters; use printable ones");
  CHECK(wrong_queues("queues:\n  - {name: a}\ndefault: nowhere\n") ==
        "q.yaml:3:10: default is 'nowhere', which is no queue that has jobs; name one that has "
        "none below it, as a");
  CHECK(wrong_queues("queues: []\ndefault: a\n") ==
        "q.yaml:2:10: default is 'a', which is no queue that has jobs; leave it out");
  CHECK(wrong_queues("queues:\n  - {name: a, queues: [{name: b}]}\ndefault: a\n")
            .find("q.yaml:3:10: ") == 0);
}
