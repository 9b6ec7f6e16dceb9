// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/out_of_reach.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a host gives up executors that others reach for long, and no others") {
  std::vector<SeatState> seats(3);
  const auto stand = [&](Standing a, Standing b, Standing c) {
    seats[0].watch.standing = a, seats[1].watch.standing = b, seats[2].watch.standing = c;
  };
  const auto well = Standing::well, cut = Standing::cut_off, lost = Standing::lost;
  OutOfReach watch;
  const Instant start{};
  stand(cut, cut, well);
  CHECK_FALSE(watch.look(seats, start));
  CHECK_FALSE(watch.look(seats, start + 19s));
  CHECK(watch.look(seats, start + 20s));
  stand(cut, well, well);  // most are heard again
  CHECK_FALSE(watch.look(seats, start + 21s));
  stand(lost, lost, lost);  // nobody would do better
  CHECK_FALSE(watch.look(seats, start + 22s));
  CHECK_FALSE(watch.look(seats, start + 90s));
  stand(cut, cut, cut);
  CHECK_FALSE(watch.look(seats, start + 91s));
  CHECK(watch.look(seats, start + 112s));
}

}  // namespace
}  // namespace starling
