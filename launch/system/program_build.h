// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// Which program this is, as results carry it: its version and the first digits of the id that the
/// linker gave this build ("0.2.0+3f9a41c6d2e7"); the version alone where there is none. Programs
/// with equal texts of this were made from the same objects. In Python it is the module's.
[[nodiscard]] std::string program_build();

}  // namespace starling
