// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>

namespace starling {

constexpr int kNvmlSuccess = 0;

/// The NVIDIA driver's library for looking at GPUs, loaded and begun; null where the machine has
/// none that works; then `why`, where given, says what is not so. It stays loaded.
[[nodiscard]] inline void* open_nvml(const std::string& library, std::string* why = nullptr) {
  void* const nvml = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) {
    if (why != nullptr) *why = "there is no " + library;
    return nullptr;
  }
  const auto init = reinterpret_cast<int (*)()>(::dlsym(nvml, "nvmlInit_v2"));
  if (init != nullptr && init() == kNvmlSuccess) return nvml;
  if (why != nullptr) *why = library + " is there and its driver does not answer";
  return nullptr;
}

/// Null where it has no such function.
template <class Call>
[[nodiscard]] Call nvml_call(void* nvml, const char* name) {
  return reinterpret_cast<Call>(::dlsym(nvml, name));
}

}  // namespace starling
