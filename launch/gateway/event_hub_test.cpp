// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/event_hub.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace starling {
namespace {

std::string all_of_stream(ByteStream& stream) {
  std::string text;
  for (const ByteStream::Piece& piece : stream.take().pieces) text += *piece;
  return text;
}

TEST_CASE("a watcher hears what is said after it came, once, with numbers that rise") {
  EventHub hub("7");
  hub.say("job", "{\"n\":0}");
  const auto watcher = hub.watch("", 10);
  REQUIRE(watcher != nullptr);
  CHECK(all_of_stream(*watcher).find("event") == std::string::npos);
  hub.say("job", "{\"n\":1}");
  hub.say("agents", "{\"n\":2}");
  CHECK(all_of_stream(*watcher).empty());
  hub.flush();
  CHECK(all_of_stream(*watcher) ==
        "id: 7-2\nevent: job\ndata: {\"n\":1}\n\nid: 7-3\nevent: agents\ndata: {\"n\":2}\n\n");
  hub.flush();
  CHECK(all_of_stream(*watcher).empty());
}

TEST_CASE(
    "a client that comes back hears what it has missed; a resync where that is not known any "
    "more") {
  EventHub hub("7");
  for (int i = 1; i <= 3; ++i) {
    hub.say("job", std::to_string(i));
    hub.flush();
  }
  const std::string missed = all_of_stream(*hub.watch("7-1", 10));
  CHECK(missed.find("data: 1\n") == std::string::npos);
  CHECK(missed.find("data: 2\n") < missed.find("data: 3\n"));
  CHECK(missed.find("resync") == std::string::npos);
  for (const char* other : {"6-1", "7-99", "7-", "nonsense", "7-1\n"})
    CHECK(all_of_stream(*hub.watch(other, 10)).find("event: resync") != std::string::npos);

  const std::string large(1U << 20U, 'x');
  for (int i = 0; i < 6; ++i) {
    hub.say("job", large);
    hub.flush();
  }
  CHECK(all_of_stream(*hub.watch("7-1", 10)).find("event: resync") != std::string::npos);
  CHECK(all_of_stream(*hub.watch("7-8", 10)).find("resync") == std::string::npos);
}

TEST_CASE("a watcher that reads nothing is given up, and costs the others nothing") {
  EventHub hub("7");
  const auto lazy = hub.watch("", 2), good = hub.watch("", 2);
  CHECK(hub.watch("", 2) == nullptr);
  const std::string large(1U << 20U, 'x');
  for (int i = 0; i < 12; ++i) {
    hub.say("job", large);
    hub.flush();
    CHECK(all_of_stream(*good).size() > large.size());
  }
  CHECK(lazy->overflowed());
  CHECK(hub.watchers() == 1);
  CHECK(hub.dropped() == 1);
  good->abandon();
  hub.flush();
  CHECK(hub.watchers() == 0);
  CHECK(hub.dropped() == 1);
}

TEST_CASE("so many changes that all would be too much for all are one, once in a while") {
  EventHub hub("7");
  std::vector<std::shared_ptr<ByteStream>> watchers;
  for (int i = 0; i < 100; ++i) watchers.push_back(hub.watch("", 100));
  for (const auto& watcher : watchers) (void)watcher->take();
  const std::string job(500, 'x');
  // 50 KiB for each of a hundred are 5 MiB: too much; what is not of jobs goes out all the same.
  const auto burst = [&] {
    for (int i = 0; i < 100; ++i) hub.say_of_job("job", job);
    hub.say("agents", "{}");
    hub.flush();
    return all_of_stream(*watchers.front());
  };
  CHECK(burst() ==
        "id: 7-101\nevent: agents\ndata: {}\n\nid: 7-102\nevent: jobs\ndata: "
        "{\"changed\":100}\n\n");
  std::string later;
  for (int i = 1; i < EventHub::kSumEvery; ++i) later += burst();
  CHECK(later.find("event: job") == std::string::npos);
  CHECK(later.find("event: agents") != std::string::npos);
  // They are told though nothing happens any more, and then single jobs are told again.
  hub.flush();
  CHECK(all_of_stream(*watchers.front()).find("event: jobs\ndata: {\"changed\":900}") !=
        std::string::npos);
  hub.say_of_job("job", job);
  hub.flush();
  CHECK(all_of_stream(*watchers.front()).find("event: job\n") != std::string::npos);
  // Who was away hears the sum, too.
  CHECK(all_of_stream(*hub.watch("7-50", 1000)).find("event: jobs") != std::string::npos);
  // Few watchers bear it.
  EventHub small("8");
  const auto one = small.watch("", 1);
  for (int i = 0; i < 100; ++i) small.say_of_job("job", job);
  small.flush();
  CHECK(all_of_stream(*one).find("event: jobs") == std::string::npos);
}

TEST_CASE("silence is a sign of life now and then") {
  EventHub hub("7");
  const auto watcher = hub.watch("", 2);
  (void)watcher->take();
  for (int i = 0; i < 2 * EventHub::kQuiet; ++i) hub.flush();
  CHECK_FALSE(all_of_stream(*watcher).empty());
}

}  // namespace
}  // namespace starling
