// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/gpu_contexts.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "launch/guardian/nvml.h"

namespace starling {
namespace {

/// nvmlProcessInfo_t as the calls of version 2 and 3 fill it.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned kMostProcesses = 256;

}  // namespace

void GpuContexts::load() {
  void* const nvml = open_nvml(library_);
  if (nvml == nullptr) return;
  const auto device = nvml_call<int (*)(unsigned, void**)>(nvml, "nvmlDeviceGetHandleByIndex_v2");
  for (const char* name :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    if (processes_ == nullptr) processes_ = nvml_call<int (*)(void*, unsigned*, void*)>(nvml, name);
  }
  if (device == nullptr || processes_ == nullptr) return;
  for (const std::uint64_t gpu : gpus_) {
    void* handle = nullptr;
    if (device(static_cast<unsigned>(gpu), &handle) == kNvmlSuccess) devices_.push_back(handle);
  }
}

bool GpuContexts::held(void* device) const {
  ProcessInfo infos[kMostProcesses];
  unsigned count = kMostProcesses;
  if (processes_(device, &count, infos) != kNvmlSuccess) return false;
  return std::any_of(infos, infos + std::min(count, kMostProcesses), [](const ProcessInfo& info) {
    return ::kill(static_cast<pid_t>(info.pid), 0) != 0 && errno == ESRCH;
  });
}

bool GpuContexts::gone(std::int64_t now_ns) {
  if (gpus_.empty()) return true;
  if (asked_ns_ < 0) {
    asked_ns_ = now_ns;
    load();
  }
  if (now_ns - asked_ns_ > kPatience_ns) return true;
  return std::none_of(devices_.begin(), devices_.end(),
                      [this](void* device) { return held(device); });
}

}  // namespace starling
