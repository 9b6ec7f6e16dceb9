// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/frame_kind.h"

#include <doctest/doctest.h>

#include <vector>

#include "bus/wire/codec.h"
#include "bus/wire/roles.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

TEST_CASE("a frame's kind can be told without reading the message") {
  Codec codec;
  testing::RandomMessage random{Rng(3)};
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    CAPTURE(kind_name(kind));
    for (int i = 0; i < 50; ++i) {
      const auto frame = codec.encode({kNewestProtocol, Incarnation{7}, 9}, random.make(kind));
      REQUIRE(kind_of_frame(frame) == kind);
    }
  }
}

TEST_CASE("of what is no frame no kind is told, and nothing beyond it is read") {
  Codec codec;
  testing::RandomMessage random{Rng(4)};
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    const auto good = codec.encode({kNewestProtocol, Incarnation{7}, 9},
                                   random.make(rng.below(testing::RandomMessage::kinds)));
    // Storage of its own, so that a sanitizer sees a read behind the end.
    std::vector<std::byte> frame(good.begin(),
                                 good.begin() + rng.below(static_cast<std::uint32_t>(good.size())));
    for (std::uint32_t n = rng.below(4); n > 0 && !frame.empty(); --n)
      frame[rng.below(static_cast<std::uint32_t>(frame.size()))] = std::byte(rng.below(256));
    const auto kind = kind_of_frame(frame);
    CHECK((!kind || *kind < std::variant_size_v<MessageKinds>));
    if (frame.size() < 8) CHECK_FALSE(kind);
  }
}

}  // namespace
}  // namespace starling
