// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>

#include "agents/output.h"

namespace starling {

/// For drivers: fills `out.send` in with what `out.recall` names. `read` gives the records of a
/// chunk of the archive, or nothing where it cannot be read; what is in none is not said, but for
/// its id in a list.
void fill_in(Output& out,
             const std::function<const std::map<JobId, JobState>*(std::uint64_t)>& read);
/// The jobs of a chunk.
[[nodiscard]] std::map<JobId, JobState> jobs_in(std::span<const Record> chunk);

}  // namespace starling
