#include "launch/guardian/gpu_contexts.h"

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

namespace starling {
namespace {

/// nvmlProcessInfo_t as the calls of version 2 and 3 fill it.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned kMostProcesses = 256;
constexpr int kSuccess = 0;

template <class Call>
Call symbol(void* library, const char* name) {
  return reinterpret_cast<Call>(::dlsym(library, name));
}

}  // namespace

void GpuContexts::load() {
  void* const library = ::dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const auto init = symbol<int (*)()>(library, "nvmlInit_v2");
  const auto device = symbol<int (*)(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
  for (const char* name : {"nvmlDeviceGetComputeRunningProcesses_v3",
                           "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    if (processes_ == nullptr)
      processes_ = symbol<int (*)(void*, unsigned*, void*)>(library, name);
  }
  if (init == nullptr || device == nullptr || processes_ == nullptr || init() != kSuccess) return;
  for (const std::uint64_t gpu : gpus_) {
    void* handle = nullptr;
    if (device(static_cast<unsigned>(gpu), &handle) == kSuccess) devices_.push_back(handle);
  }
}

bool GpuContexts::held(void* device) const {
  ProcessInfo infos[kMostProcesses];
  unsigned count = kMostProcesses;
  if (processes_(device, &count, infos) != kSuccess) return false;
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
