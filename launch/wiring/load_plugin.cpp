// SPDX-License-Identifier: Apache-2.0
#include "launch/wiring/load_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <set>

namespace starling {
namespace {

Error wrong(const std::string& path, const std::string& what) {
  return {Errc::invalid, path + ": " + what};
}

/// PolicyFacts and tables refer to names that live as long as the process.
const std::string& kept(const std::string& text) {
  static std::set<std::string> names;  // of one command line, read by one thread
  return *names.insert(text).first;
}

}  // namespace

bool names_plugin(const std::string& text) {
  return text.substr(0, text.find(':')).find('/') != std::string::npos;
}

Result<const Plugin*> load_plugin(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return wrong(path, "there is no such file; a plug-in is a shared library, as ./libmine.so");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return wrong(path, std::string("cannot be loaded: ") + (why != nullptr ? why : "unknown") +
                           "; a plug-in is built against this program's headers");
  }
  const auto abi = reinterpret_cast<const char* (*)()>(::dlsym(library, "starling_plugin_abi"));
  const auto plugin = reinterpret_cast<const Plugin* (*)()>(::dlsym(library, "starling_plugin"));
  if (abi == nullptr || plugin == nullptr)
    return wrong(path,
                 "is a shared library, but no plug-in: STARLING_POLICY_PLUGIN or "
                 "STARLING_TRACE_PLUGIN has to stand in it (launch/wiring/plugin.h)");
  if (std::string(abi()) != STARLING_PLUGIN_ABI)
    return wrong(path, std::string("was built for ") + abi() + ", and this program is " +
                           STARLING_PLUGIN_ABI +
                           "; build it anew against this program's headers, with its compiler");
  return plugin();
}

Status add_plugin_policy(PolicyRegistry& registry, const std::string& text) {
  const std::string path = text.substr(0, text.find(':'));
  if (!names_plugin(text) || registry.entries().contains(path)) return done();
  const auto plugin = load_plugin(path);
  if (!plugin) return plugin.error();
  if (plugin.value()->make_policy == nullptr || plugin.value()->facts == nullptr)
    return wrong(path, "has no policy");
  PolicyFacts facts = plugin.value()->facts();
  facts.name = kept(path);
  registry.add(facts,
               [make = plugin.value()->make_policy](OptionReader& options)
                   -> Result<std::unique_ptr<Policy>> { return make(options); });
  return done();
}

Result<TraceReader> plugin_reader(const std::string& path) {
  const auto plugin = load_plugin(path);
  if (!plugin) return plugin.error();
  if (plugin.value()->read_trace == nullptr) return wrong(path, "reads no traces");
  return TraceReader(plugin.value()->read_trace);
}

}  // namespace starling
