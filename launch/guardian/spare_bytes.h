// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// How much jobs may still print to the file system of an open file. What a flock must write (its
/// journals) often stands on the same disk: the last 256 MiB of it, or a twentieth of a small one,
/// are not for logs. Unknown: as much as one likes.
[[nodiscard]] std::uint64_t spare_bytes(int fd);

}  // namespace starling
