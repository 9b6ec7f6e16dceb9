// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/kinds.h"

#include <algorithm>

#include "launch/system/text.h"

namespace starling {
namespace {

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

}  // namespace

std::optional<std::string> wrong_for_kind(const Command& command, const std::string& kind,
                                          std::span<const std::string_view> kinds,
                                          std::span<const KindOption> options) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    const auto near = nearest(kind, std::vector<std::string>(kinds.begin(), kinds.end()));
    return "there is no kind '" + kind + "'" + (near ? "; did you mean '" + *near + "'?" : "") +
           (near ? "" : "; the kinds are " + listed(kinds));
  }
  for (const KindOption& o : options) {
    const bool read = std::find(o.kinds.begin(), o.kinds.end(), kind) != o.kinds.end();
    if (!read && command.given(std::string(o.option)))
      return std::string(o.option) + " means nothing to " + kind + ", only to " + listed(o.kinds);
  }
  return std::nullopt;
}

}  // namespace starling
