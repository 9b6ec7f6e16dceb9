// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/command_line/cli.h"

namespace starling {

// The commands of the trained models; as in launch/commands/commands.h.
void add_train(const Command& root);
void add_train_dl2(const Command& train_command);
void add_interference(const Command& root);
void add_adaptation(const Command& interference);  ///< below that

}  // namespace starling
