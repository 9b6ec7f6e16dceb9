// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/lease_requests.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using Kind = LeaseRequests::Request::Kind;

const Ownership kMine{PartitionId{1}, Epoch{2}, AgentId{3}};

TEST_CASE("requests come in their order; a renewal that waits already is not asked again") {
  LeaseRequests requests;
  CHECK(requests.empty());
  CHECK(requests.add({Kind::acquire, kMine}));
  CHECK(requests.add({Kind::renew, kMine}));
  CHECK_FALSE(requests.add({Kind::renew, kMine}));
  CHECK(requests.add({Kind::renew, {PartitionId{2}, Epoch{2}, AgentId{3}}}));
  CHECK(requests.add({Kind::renew, kMine}));
  CHECK(requests.next()->kind == Kind::acquire);
  CHECK(requests.next()->what == kMine);
  CHECK(requests.next()->what.partition == PartitionId{2});
  CHECK(requests.next()->what == kMine);
  CHECK_FALSE(requests.next());
}

TEST_CASE("requests that are stopped still let go of the lease") {
  LeaseRequests requests;
  requests.add({Kind::renew, kMine});
  requests.add({Kind::release, kMine});
  requests.add({Kind::acquire, kMine});
  CHECK_FALSE(requests.stopped());
  requests.stop();
  CHECK(requests.stopped());
  CHECK(requests.next()->kind == Kind::release);
  CHECK(requests.empty());
}

}  // namespace
}  // namespace starling
