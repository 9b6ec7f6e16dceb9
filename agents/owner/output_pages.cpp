// SPDX-License-Identifier: Apache-2.0
// What jobs have printed is with the executors that ran them. An agent passes questions on to those
// of its partition and answers back, and remembers neither.
#include "agents/step/owner_step.h"

namespace starling {

void OwnerStep::on(NodeId from, const ReadOutput& read) {
  const auto no = [&](std::string why) {
    OutputPage page{read.attempt, read.server, from, read.file, read.offset};
    page.trouble = std::move(why);
    send(from, std::move(page));
  };
  if (is_agent(from)) return refuse();
  if (!s.owner.partition.servers.contains(read.server.value))
    return no("its server is of another partition");
  const OwnedExecutor& executor =
      s.owner.executors[s.owner.executor_of[read.server.value - s.owner.partition.servers.first]];
  if (executor.watch.protocol < protocol_of(Message(read).index()))
    return no("its executor is of an older version or not there");
  ReadOutput passed = read;
  passed.client = from;
  send(executor.node, std::move(passed));
}

void OwnerStep::on(NodeId from, const OutputPage& page) {
  const auto executor = s.owner.executor_index.find(from);
  if (executor == s.owner.executor_index.end() || page.client.value < kFirstClient) return refuse();
  send(page.client, page);
}

}  // namespace starling
