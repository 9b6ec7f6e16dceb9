#pragma once

#include <sys/types.h>

#include <string>

namespace starling {

/// A process group of ours is over when nothing of it is left, not even an orphan: only then is its
/// GPU free. Needs adopt_orphans(), or orphans that nobody reaps would keep it for ever.
[[nodiscard]] bool group_is_gone(pid_t group);

/// Makes this process the parent of its descendants' orphans, for as long as it lives.
void adopt_orphans();

/// SIGKILL to every process of this user whose environment says STARLING_RUN=`mark`, or starts so
/// if `prefix`: those that left their group, and those that outlived an earlier life of ours.
/// Returns how many were found.
std::size_t kill_marked(const std::string& mark, bool prefix);

}  // namespace starling
