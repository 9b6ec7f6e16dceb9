// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/newest_servers.h"

#include <string>

#include "launch/deployment/etcd_state.h"
#include "launch/system/text.h"
#include "store/etcd/etcd_client.h"

namespace starling {

Status newest_servers(const Deployment& flock) {
  if (flock.state.empty()) return done();
  const auto address = etcd_address(flock);
  if (!address) return address.error();
  const std::string key = etcd_root(address.value()) + "servers";
  EtcdClient client(address.value(), kEpochCalls);
  for (;;) {
    const auto found = client.get(key);
    if (!found) return {Errc::io, found.error().message};
    std::uint64_t known = 1;  // which is where flocks begin
    if (found.value()) {
      const auto said = parse_whole(found.value()->value);
      if (!said) return {Errc::invalid, "'" + key + "' is not a generation of servers"};
      known = *said;
    }
    if (flock.generation == known) return done();
    if (flock.generation < known) {
      return {Errc::invalid,
              "the flock has other servers since (generation " + std::to_string(known) +
                  "), and its description in " + flock.dir.string() + " is of generation " +
                  std::to_string(flock.generation) +
                  "; put the newer deployment.json there, with its folder 'servers'"};
    }
    const std::int64_t revision = found.value() ? found.value()->revision : 0;
    const auto put = client.txn({{EtcdCompare::revision_is(key, revision)},
                                 {EtcdOp::put(key, std::to_string(flock.generation))},
                                 {}});
    if (!put) return {Errc::io, put.error().message};
    if (put.value().held) return done();
  }
}

}  // namespace starling
