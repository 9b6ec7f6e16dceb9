// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace starling::chaos_live {

/// How a job of `chaos live` behaves, beside holding its GPUs for its time. `left`: what it leaves
/// behind, which holds the GPUs on and has to be killed before they are free.
enum class Manner : std::uint8_t {
  plain,     ///< one process that sleeps
  wait,      ///< a shell that waits for the child that works
  child,     ///< left: a child in its process group
  session,   ///< left: a child in a session of its own
  daemon,    ///< left: a grandchild, forked twice, in a session of its own
  escape,    ///< as daemon, and nothing of the job is in its environment or command any more
  chain,     ///< left: a process that forks and exits again and again, each in a session of its own
  deaf,      ///< ignores SIGTERM
  fail,      ///< ends with code 7
  fail_one,  ///< one worker of a gang ends with code 9 half way, the others go on
  print,     ///< writes some MiB to its output
  fifo_steps,  ///< a FIFO stands where its steps are to be
  fifo_log     ///< a FIFO stands where its log was
};

struct MannerFacts {
  Manner manner;
  std::string_view name;  ///< as scenarios and `chaos job --manner` write it
  std::string_view what;  ///< one line for --list
  bool fails;             ///< its end is `failed`
};

/// All of them, in the order of the enumeration.
[[nodiscard]] const std::array<MannerFacts, 13>& manners();
[[nodiscard]] const MannerFacts& facts_of(Manner manner);
[[nodiscard]] std::optional<Manner> manner_named(const std::string& name);

}  // namespace starling::chaos_live
