// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/manners.h"

#include <algorithm>

namespace starling::chaos_live {

const std::array<MannerFacts, 13>& manners() {
  using M = Manner;
  static constexpr std::array<MannerFacts, 13> kAll{{
      {M::plain, "plain", "one process that sleeps", false},
      {M::wait, "wait", "a shell that waits for a child that works", false},
      {M::child, "child", "leaves a child in its process group", false},
      {M::session, "session", "leaves a child in a session of its own", false},
      {M::daemon, "daemon", "leaves a grandchild (forked twice, a session of its own)", false},
      {M::escape, "escape", "as daemon, and its environment and command name the job no more",
       false},
      {M::chain, "chain", "leaves a process that forks and exits, again and again", false},
      {M::deaf, "deaf", "ignores SIGTERM", false},
      {M::fail, "fail", "ends with code 7", true},
      {M::fail_one, "fail-one", "one worker of a gang ends with code 9 half way", true},
      {M::print, "print", "writes 4 MiB to its output", false},
      {M::fifo_steps, "fifo-steps", "puts a FIFO where its steps are to be", false},
      {M::fifo_log, "fifo-log", "puts a FIFO where its log was", false},
  }};
  return kAll;
}

const MannerFacts& facts_of(Manner manner) {
  return manners().at(static_cast<std::size_t>(manner));
}

std::optional<Manner> manner_named(const std::string& name) {
  const auto at = std::find_if(manners().begin(), manners().end(),
                               [&](const MannerFacts& m) { return m.name == name; });
  return at == manners().end() ? std::nullopt : std::optional(at->manner);
}

}  // namespace starling::chaos_live
