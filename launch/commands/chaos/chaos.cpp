// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/commands.h"

namespace starling {

void add_chaos(const Command& root) {
  const Command command = root.sub("chaos", "break things and look whether the promises hold");
  add_chaos_sim(command);
  add_chaos_etcd(command);
  add_chaos_live(command);
}

}  // namespace starling
