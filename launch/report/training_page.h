// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace starling {

/// What `starling train policy` wrote into train.jsonl, by stage, as JSON text: the data of the
/// page. `invalid` names the line that is no record of training; a last one without its end is left
/// out.
[[nodiscard]] Result<std::string> training_json(const std::string& log);
/// The same for people: a line for each stage.
[[nodiscard]] std::string training_text(const std::string& json);

/// One self-contained page about it. `json` is training_json's.
[[nodiscard]] std::string training_page(const std::string& json);

}  // namespace starling
