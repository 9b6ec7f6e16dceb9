// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace starling {

/// Text of another's making, fit for a terminal and for a page: well-formed UTF-8 in which
/// nothing moves the cursor, changes how other text is drawn, or hides. Each foreign byte and each
/// such character reads '?': C0 (but newline and tab), DEL, C1, controls of direction and of
/// joining, separators of lines and paragraphs, marks of byte order, tags.
[[nodiscard]] std::string visible(std::string_view text);
/// The same on one line: a newline and a tab read as spaces.
[[nodiscard]] std::string visible_line(std::string_view text);
/// Whether visible_line() would change nothing.
[[nodiscard]] bool is_visible_line(std::string_view text);

}  // namespace starling
