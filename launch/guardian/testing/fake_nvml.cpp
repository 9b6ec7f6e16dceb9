// SPDX-License-Identifier: Apache-2.0
// For tests: as much of NVML as the guardian asks, which says what the environment says.
#include <cstdlib>

namespace {
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
int handles[16];
}  // namespace

extern "C" {
int nvmlInit_v2() { return std::getenv("FAKE_NVML_BROKEN") == nullptr ? 0 : 999; }
/// FAKE_NVML_COUNT devices.
int nvmlDeviceGetCount_v2(unsigned* count) {
  const char* const said = std::getenv("FAKE_NVML_COUNT");
  *count = said == nullptr ? 0 : static_cast<unsigned>(std::atoi(said));
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= 16) return 2;
  *device = &handles[index];
  return 0;
}
/// FAKE_NVML_PID has a context on GPU FAKE_NVML_GPU.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  const char* const pid = std::getenv("FAKE_NVML_PID");
  const char* const gpu = std::getenv("FAKE_NVML_GPU");
  const bool held = pid != nullptr && gpu != nullptr && device == &handles[std::atoi(gpu) & 15];
  *count = held ? 1 : 0;
  if (held) infos[0] = {static_cast<unsigned>(std::atoi(pid)), 1, 0, 0};
  return 0;
}
}
