// SPDX-License-Identifier: Apache-2.0
#include "bus/outbox.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>
#include <zmq.hpp>

using namespace starling;
using Bytes = std::vector<std::byte>;

TEST_CASE("what waits is counted until libzmq has let go of it") {
  const auto all = std::make_shared<std::atomic<std::size_t>>(0);
  const Outbox box({1000, 10'000}, all);
  {
    zmq::message_t first = box.message(Bytes(100, std::byte(7)));
    CHECK(first.size() == 100);
    CHECK(*first.data<std::byte>() == std::byte(7));
    CHECK(box.bytes() == 100 + kBytesPerFrame);
    CHECK(box.has_room(500));
    CHECK_FALSE(box.has_room(600));
    CHECK_FALSE(box.backed_up());
    const zmq::message_t second = box.message(Bytes(300));
    CHECK(box.backed_up());
    CHECK(*all == 400 + 2 * kBytesPerFrame);
  }
  CHECK(box.bytes() == 0);
  CHECK(*all == 0);
  CHECK(box.has_room(5000));  // one frame always fits who has nothing waiting
}

TEST_CASE("a caller that reads is answered where others have used up what there is for all") {
  const auto all = std::make_shared<std::atomic<std::size_t>>(0);
  const OutboxBounds bounds{100'000, 200'000};
  std::vector<zmq::message_t> waiting;
  std::vector<Outbox> deaf;
  for (int i = 0; i < 8; ++i) deaf.emplace_back(bounds, all);
  for (int round = 0; round < 100; ++round) {
    for (const Outbox& box : deaf) {
      if (box.has_room(20'000)) waiting.push_back(box.message(Bytes(20'000)));
    }
  }
  CHECK(*all <= 400'000);
  CHECK(*all > 180'000);
  const Outbox reader(bounds, all);
  CHECK(reader.has_room(20'000));
  for (int i = 0; i < 20; ++i) {
    deaf.emplace_back(bounds, all);
    if (deaf.back().has_room(20'000)) waiting.push_back(deaf.back().message(Bytes(20'000)));
  }
  CHECK(*all <= 400'000);
  CHECK_FALSE(reader.has_room(20'000));
  CHECK(reader.has_room(kSmallFrame));
}
