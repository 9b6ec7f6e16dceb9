// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/command_line/cli.h"
#include "store/etcd/etcd_address.h"

namespace starling {

/// The options --etcd-... of commands that make a flock.
void add_etcd_options(const Command& command, EtcdAccess& access);

}  // namespace starling
