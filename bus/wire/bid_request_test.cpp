// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "agents/message.h"
#include "bus/wire/codec.h"

namespace starling {
namespace {

TEST_CASE("how urgent a claim is, is said in the fifth protocol, not before") {
  Codec codec;
  BidRequest claim{{JobId{1, 2}, Epoch{3}, 4}, 8, 2, {}};
  CHECK(wholly_said_in(claim) < 5);
  claim.claim_ms = 500;
  claim.priority = -7;
  CHECK(wholly_said_in(claim) == 5);
  for (std::uint16_t protocol = 2; protocol <= kNewestProtocol; ++protocol) {
    CAPTURE(protocol);
    const auto said = codec.encode({protocol, Incarnation{7}, 9}, claim);
    const std::vector<std::byte> bytes(said.begin(), said.end());
    const auto heard = codec.decode(bytes);
    REQUIRE(heard.ok());
    const auto& asked = std::get<BidRequest>(heard.value().message);
    CHECK(asked.claim_ms == 500);
    CHECK(asked.priority == (protocol < 5 ? 0 : -7));
  }
}

}  // namespace
}  // namespace starling
