// SPDX-License-Identifier: Apache-2.0
#include "launch/client/flock_client.h"
#include "launch/commands/flock/up.h"
#include "workload/queue_file.h"

namespace starling {

Status read_queues(UpOptions& o) {
  if (o.queue_file.empty()) return done();
  auto tree = read_queue_file(o.queue_file);
  if (!tree) return {Errc::invalid, "--queues: " + tree.error().message};
  o.queues = std::move(tree).value();
  return done();
}

std::string set_queues_of(const UpOptions& o, const std::filesystem::path& dir) {
  if (!o.queues) return {};
  auto client = FlockClient::open(dir);
  const Status set = !client ? Status(client.error()) : [&] {
    const auto answer = client.value()->set_queues(*o.queues);
    return answer ? done() : Status(answer.error());
  }();
  return set.ok() ? std::string()
                  : "the queues of " + o.queue_file + " are not in force: " + set.error().message +
                        "; 'starling queues set' tries again";
}

}  // namespace starling
