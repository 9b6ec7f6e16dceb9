// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace starling {

/// What commands write to be looked at, read by machines or loaded again, and not to be edited.
enum class OutKind {
  picture,    ///< SVG
  page,       ///< HTML with its data
  verdicts,   ///< JUnit
  placed,     ///< what `pack` did with each pod, CSV, plain or gzip
  pairs,      ///< what `profile` measured, CSV
  weights,    ///< of a trained network
  compared,   ///< what `reproduce` found, Markdown
  sheet,      ///< a picture as PDF
  recording,  ///< of a run, JSON, plain or gzip
};

/// Could a file be written there? `invalid` says what is wrong with the name, and what would be
/// right: "nodir/x.csv: there is no folder nodir; make it, or give another name".
[[nodiscard]] Status check_out_file(const std::string& file);

/// The same, and nothing of a user's is lost: the file is absent, empty, or begins as those of
/// `kind` that Starling writes. `invalid` otherwise.
[[nodiscard]] Status check_out_file(const std::string& file, OutKind kind);

/// Of the flag --force, where check_edited_file is used.
constexpr const char* kForceHelp = "replaces what is there, also if it is something else";

/// Of a file that people edit, a topology or a trace: may `text` take its place? Yes where there is
/// nothing, the same text (plain or gzip) or a pipe or device, and with `force`; `invalid`
/// otherwise.
[[nodiscard]] Status check_edited_file(const std::string& file, const std::string& text,
                                       bool force);

}  // namespace starling
