// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "launch/wiring/plugin_abi.h"
#include "policies/options.h"
#include "scheduling/policy.h"
#include "workload/job.h"

namespace starling {

/// What a shared library brings along for `--policy ./NAME.so[:key=value,...]` or `--format
/// ./NAME.so` (launch/wiring/load_plugin.h). It is compiled against the installed headers, links
/// nothing of Starling and takes it from the program that loads it. STARLING_POLICY_PLUGIN(TYPE) or
/// STARLING_TRACE_PLUGIN(FUNCTION) stands once in it, outside of any namespace.
struct Plugin {
  PolicyFacts (*facts)() = nullptr;  ///< null: it has no policy
  std::unique_ptr<Policy> (*make_policy)(OptionReader& options) = nullptr;
  /// Null: it reads no traces. As TraceReader says (workload/traces/trace.h).
  Result<Trace> (*read_trace)(const std::string& text, const std::string& file) = nullptr;
};

template <class Own>
std::unique_ptr<Policy> make_plugin_policy(OptionReader& options) {
  return std::make_unique<Own>(options);
}

}  // namespace starling

#define STARLING_PLUGIN(...)                                                                      \
  extern "C" __attribute__((visibility("default"))) const char* starling_plugin_abi() {           \
    return STARLING_PLUGIN_ABI;                                                                   \
  }                                                                                               \
  extern "C" __attribute__((visibility("default"))) const ::starling::Plugin* starling_plugin() { \
    static const ::starling::Plugin plugin{__VA_ARGS__};                                          \
    return &plugin;                                                                               \
  }
/// TYPE is a Policy that can be made of an OptionReader& and has a static PolicyFacts
/// plugin_facts().
#define STARLING_POLICY_PLUGIN(TYPE) \
  STARLING_PLUGIN(&TYPE::plugin_facts, &::starling::make_plugin_policy<TYPE>, nullptr)
/// FUNCTION is as Plugin::read_trace.
#define STARLING_TRACE_PLUGIN(FUNCTION) STARLING_PLUGIN(nullptr, nullptr, &(FUNCTION))
