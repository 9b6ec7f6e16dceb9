// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// Every line that log_* write from now on carries `name`. Lines go to stderr, flushed at once.
/// log_info and log_error may be called by any thread.
void log_as(const std::string& name);
void log_info(const std::string& line);
void log_error(const std::string& line);

}  // namespace starling
