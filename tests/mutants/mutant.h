// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// Of a copy of the sources that tests/mutants/run has changed: every mistake is in it, and the
// environment variable STARLING_MUTANT says which one is made. None: the program as it is.

namespace starling::mutants {

/// Whether mistake `number` is to be made here. Notes that this place was passed.
[[nodiscard]] bool on(std::size_t number) noexcept;

/// The numbers of the places that were passed since the last call, with blanks between them.
[[nodiscard]] std::string passed();

}  // namespace starling::mutants
