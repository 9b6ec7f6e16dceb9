// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace starling {

/// The kind, as index into Message, of a frame that a codec made and that was not altered; none: it
/// is no frame at all. Reads nothing else, so it says of no frame that a codec would take it.
[[nodiscard]] std::optional<std::size_t> kind_of_frame(std::span<const std::byte> frame);

}  // namespace starling
