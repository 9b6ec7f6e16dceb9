// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace starling::fuzz {

/// Bytes as a stranger could have written them. A target returns whatever they are, or finds an
/// invariant of ours broken: then it does not return.
using FuzzBytes = std::span<const std::uint8_t>;

void frame(FuzzBytes bytes);   ///< a frame off the wire; what is accepted encodes again to the same
void record(FuzzBytes bytes);  ///< one journal record; likewise
void journal(FuzzBytes bytes);     ///< a file where a SQLite journal is expected
void topology(FuzzBytes bytes);    ///< a topology file of any format that can be imported
void trace(FuzzBytes bytes);       ///< first byte: the format; the rest: a trace file
void job(FuzzBytes bytes);         ///< a job file
void experiment(FuzzBytes bytes);  ///< an experiment file
/// Instructions for a small flock: submit, deliver, lose, crash, restart.
void agent(FuzzBytes bytes);
/// Instructions for one executor: commands, strangers, ends, restarts.
void executor(FuzzBytes bytes);

struct Target {
  std::string_view name;
  void (*run)(FuzzBytes);
};
/// Every target, under the name of its folder in corpus/.
inline constexpr Target kTargets[] = {
    {"frame", frame},           {"record", record}, {"journal", journal},
    {"topology", topology},     {"trace", trace},   {"job", job},
    {"experiment", experiment}, {"agent", agent},   {"executor", executor}};

}  // namespace starling::fuzz
