// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// The IP address of the host that each server is (part of): where its executor listens.
[[nodiscard]] Result<std::function<std::string(ServerId)>> server_addresses(
    const Deployment& deployment);

}  // namespace starling
