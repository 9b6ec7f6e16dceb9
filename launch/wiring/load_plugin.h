// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/wiring/plugin.h"
#include "policies/registry.h"
#include "workload/traces/trace.h"

namespace starling {

// Plug-ins are code of the user that starts the program: a text is one only where the part before
// its first colon has a slash. What stands in a library as a static object is made before its word
// on the headers is looked at. No daemon and no answer to another process loads any.

/// Is it a path?
[[nodiscard]] bool names_plugin(const std::string& text);
/// Loads the library for as long as this process lives. `invalid` says what is wrong with the file,
/// and where it was built against other headers or by another compiler, which are which.
[[nodiscard]] Result<const Plugin*> load_plugin(const std::string& path);
/// Adds the policy of a plug-in under its path, if "PATH[:key=value,...]" names one that is not
/// there yet. `invalid`: as above, or it has no policy.
[[nodiscard]] Status add_plugin_policy(PolicyRegistry& registry, const std::string& text);
/// What reads traces in a plug-in. `invalid`: as above, or it reads none.
[[nodiscard]] Result<TraceReader> plugin_reader(const std::string& path);

}  // namespace starling
