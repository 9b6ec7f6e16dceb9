// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/command_line/cli.h"

namespace starling {

/// `gateway`, and `gateway token new|list|revoke` below it.
void add_gateway(const Command& root);

}  // namespace starling
