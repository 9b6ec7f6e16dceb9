// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/out_of_reach.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a host gives up executors that others reach for long, and no others") {
  std::vector<OwnedExecutor> executors(3);
  const auto stand = [&](Standing a, Standing b, Standing c) {
    executors[0].watch.standing = a, executors[1].watch.standing = b,
    executors[2].watch.standing = c;
  };
  const auto well = Standing::well, cut = Standing::cut_off, lost = Standing::lost;
  OutOfReach watch;
  const Instant start{};
  stand(cut, cut, well);
  CHECK_FALSE(watch.look(executors, start));
  CHECK_FALSE(watch.look(executors, start + 19s));
  CHECK(watch.look(executors, start + 20s));
  stand(cut, well, well);  // most are heard again
  CHECK_FALSE(watch.look(executors, start + 21s));
  stand(lost, lost, lost);  // no host would do better
  CHECK_FALSE(watch.look(executors, start + 22s));
  CHECK_FALSE(watch.look(executors, start + 90s));
  stand(cut, cut, cut);
  CHECK_FALSE(watch.look(executors, start + 91s));
  CHECK(watch.look(executors, start + 112s));
}

}  // namespace
}  // namespace starling
