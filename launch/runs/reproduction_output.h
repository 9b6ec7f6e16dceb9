// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/published/reproduction.h"

namespace starling {

/// One that was run. Both outlive it.
struct Reproduced {
  const Reproduction& what;
  const ReproductionReport& report;
};

/// The command that makes it again, without the name of the user's own folder.
[[nodiscard]] std::string reproduction_command(std::string_view name);

/// {"schema": 1, "holds": ..., "reproductions": [{..., "figures": [{...}]}]}. A difference that is
/// no number, or endless, is null.
[[nodiscard]] std::string reproduction_json(std::span<const Reproduced> all);
/// Title, source, a table of figures, notes, what missed its bound.
[[nodiscard]] std::string reproduction_text(const Reproduced& one);
/// The same of all as Markdown. Begins "# Published figures, made again".
[[nodiscard]] std::string reproduction_markdown(std::span<const Reproduced> all);
/// The same as one self-contained page.
[[nodiscard]] std::string reproduction_page(std::span<const Reproduced> all);

}  // namespace starling
