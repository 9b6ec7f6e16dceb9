// SPDX-License-Identifier: Apache-2.0
// Structs and numbers are those of NVIDIA's nvml.h, whose interface only grows; each call is looked
// up by name, and one that an older driver lacks leaves out what it would have said.
#include "launch/hardware/nvml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "launch/guardian/nvml.h"

namespace starling {
namespace {

using Device = void*;
constexpr int kGpuIsLost = 15;
constexpr std::uint64_t kXid = 8;  // nvmlEventTypeXidCriticalError
constexpr unsigned kMostLinks = 36;
constexpr unsigned kSpeedPerLink = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
constexpr std::size_t kMostEvents = 64;

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned gpu, memory;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int type, result;
  union {
    double number;
    unsigned whole;
    unsigned long long large;
  } value;
};
struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

std::string pci_of(const PciInfo& info) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", info.domain & 0xffffU, info.bus & 0xffU,
                info.device & 0xffU);
  return text;
}

/// "NVIDIA A100-SXM4-40GB MIG 1g.5gb" is 1g.5gb.
std::string mig_profile(const std::string& name) {
  const auto at = name.rfind("MIG ");
  return at == std::string::npos ? name : name.substr(at + 4);
}

}  // namespace

struct Nvml::Calls {
  void* library = nullptr;
  void* events = nullptr;
  std::vector<Device> listened;

  template <class... Args>
  int call(const char* name, Args... args) const {
    const auto function = nvml_call<int (*)(Args...)>(library, name);
    return function == nullptr ? -1 : function(args...);
  }
  Device device(std::uint32_t index, int* how = nullptr) const {
    Device found = nullptr;
    const int result = call("nvmlDeviceGetHandleByIndex_v2", static_cast<unsigned>(index), &found);
    if (how != nullptr) *how = result;
    return result == kNvmlSuccess ? found : nullptr;
  }
  std::string text(const char* name, Device of) const {
    std::array<char, 128> buffer{};
    return call(name, of, buffer.data(), 96U) == kNvmlSuccess ? std::string(buffer.data()) : "";
  }
  void slices(Device device, GpuFound& gpu) const {
    unsigned now = 0, pending = 0, most = 0;
    if (call("nvmlDeviceGetMigMode", device, &now, &pending) != kNvmlSuccess || now == 0) return;
    gpu.mig_on = true;
    if (call("nvmlDeviceGetMaxMigDeviceCount", device, &most) != kNvmlSuccess) return;
    for (unsigned i = 0; i < std::min(most, 16U); ++i) {
      Device slice = nullptr;
      if (call("nvmlDeviceGetMigDeviceHandleByIndex", device, i, &slice) == kNvmlSuccess)
        gpu.mig.push_back(mig_profile(text("nvmlDeviceGetName", slice)));
    }
  }
  void links(Device device, GpuFound& gpu) const {
    for (unsigned link = 0; link < kMostLinks; ++link) {
      unsigned up = 0;
      if (call("nvmlDeviceGetNvLinkState", device, link, &up) != kNvmlSuccess || up == 0) continue;
      ++gpu.links;
      int kind = 0xff;
      PciInfo other{};
      (void)call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &kind);
      constexpr int kGpu = 0, kSwitch = 2;
      if (kind == kSwitch) gpu.switched = true;
      if (kind == kGpu &&
          call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &other) == kNvmlSuccess)
        gpu.peers.push_back(pci_of(other));
    }
    std::sort(gpu.peers.begin(), gpu.peers.end());
    gpu.peers.erase(std::unique(gpu.peers.begin(), gpu.peers.end()), gpu.peers.end());
    FieldValue speed{};
    speed.field = kSpeedPerLink;
    if (gpu.links > 0 && call("nvmlDeviceGetFieldValues", device, 1, &speed) == kNvmlSuccess &&
        speed.result == kNvmlSuccess)
      gpu.nvlink_gbps = gpu.links * (speed.value.whole * 8.0 / 1000);
  }
  void fabric(Device device, GpuFound& gpu) const {
    FabricInfo info{};
    constexpr unsigned char kCompleted = 3;
    if (call("nvmlDeviceGetGpuFabricInfo", device, &info) != kNvmlSuccess ||
        info.state != kCompleted || info.status != kNvmlSuccess)
      return;
    if (std::all_of(std::begin(info.cluster), std::end(info.cluster),
                    [](unsigned char c) { return c == 0; }))
      return;
    for (const unsigned char c : info.cluster) {
      char hex[3];
      std::snprintf(hex, sizeof hex, "%02x", c);
      gpu.cluster += hex;
    }
    gpu.clique = info.clique;
  }
};

std::unique_ptr<Nvml> Nvml::open(const std::string& library, std::string* why) {
  auto calls = std::make_unique<Calls>();
  calls->library = open_nvml(library, why);
  if (calls->library == nullptr) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(calls)));
}

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Nvml::~Nvml() {
  if (calls_->events != nullptr) (void)calls_->call("nvmlEventSetFree", calls_->events);
}

std::uint32_t Nvml::count() const {
  unsigned count = 0;
  return calls_->call("nvmlDeviceGetCount_v2", &count) == kNvmlSuccess ? count : 0;
}

std::vector<GpuFound> Nvml::gpus() const {
  std::vector<GpuFound> all;
  for (std::uint32_t i = 0; i < count(); ++i) {
    GpuFound gpu;
    gpu.index = i;
    if (const Device device = calls_->device(i); device != nullptr) {
      gpu.model = calls_->text("nvmlDeviceGetName", device);
      gpu.uuid = calls_->text("nvmlDeviceGetUUID", device);
      gpu.serial = calls_->text("nvmlDeviceGetSerial", device);
      Memory memory{};
      constexpr double kGib = 1024.0 * 1024 * 1024;
      if (calls_->call("nvmlDeviceGetMemoryInfo", device, &memory) == kNvmlSuccess)
        gpu.memory_gib = static_cast<double>(memory.total) / kGib;
      PciInfo pci{};
      if (calls_->call("nvmlDeviceGetPciInfo_v3", device, &pci) == kNvmlSuccess)
        gpu.pci = pci_of(pci);
      calls_->slices(device, gpu);
      calls_->links(device, gpu);
      calls_->fabric(device, gpu);
    }
    all.push_back(std::move(gpu));
  }
  return all;
}

GpuSample Nvml::sample(std::uint32_t gpu) const {
  GpuSample sample;
  int how = kNvmlSuccess;
  const Device device = calls_->device(gpu, &how);
  sample.lost = how == kGpuIsLost;
  sample.unreachable = device == nullptr && !sample.lost;
  if (device == nullptr) return sample;
  const auto said = [&](int result) {
    sample.lost = sample.lost || result == kGpuIsLost;
    return result == kNvmlSuccess;
  };
  Utilisation busy{};
  if (said(calls_->call("nvmlDeviceGetUtilizationRates", device, &busy)))
    sample.utilisation = busy.gpu;
  unsigned degrees = 0;
  constexpr int kOfGpu = 0, kSlowdown = 1;
  if (said(calls_->call("nvmlDeviceGetTemperature", device, kOfGpu, &degrees)))
    sample.temperature_c = degrees;
  if (said(calls_->call("nvmlDeviceGetTemperatureThreshold", device, kSlowdown, &degrees)))
    sample.slowdown_c = degrees;
  unsigned long long number = 0;
  constexpr int kUncorrected = 1, kVolatile = 0;
  if (said(calls_->call("nvmlDeviceGetTotalEccErrors", device, kUncorrected, kVolatile, &number)))
    sample.uncorrected_ecc = number;
  if (said(calls_->call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &number)))
    sample.throttled = number;
  if (said(calls_->call("nvmlDeviceGetTotalEnergyConsumption", device, &number)))
    sample.energy_mj = number;
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (said(calls_->call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending,
                        &failed)))
    sample.remap_failed = failed != 0;
  return sample;
}

std::vector<XidEvent> Nvml::errors() {
  std::vector<XidEvent> all;
  if (calls_->events == nullptr) {
    if (calls_->call("nvmlEventSetCreate", &calls_->events) != kNvmlSuccess) {
      calls_->events = nullptr;
      return all;
    }
    for (std::uint32_t i = 0; i < count(); ++i) {
      calls_->listened.push_back(calls_->device(i));
      if (calls_->listened.back() != nullptr)
        (void)calls_->call("nvmlDeviceRegisterEvents", calls_->listened.back(),
                           static_cast<unsigned long long>(kXid), calls_->events);
    }
  }
  EventData event{};
  while (all.size() < kMostEvents &&
         calls_->call("nvmlEventSetWait_v2", calls_->events, &event, 0U) == kNvmlSuccess) {
    const auto at = std::find(calls_->listened.begin(), calls_->listened.end(), event.device);
    if (event.type == kXid && at != calls_->listened.end())
      all.push_back({static_cast<std::uint32_t>(at - calls_->listened.begin()), event.data});
  }
  return all;
}

}  // namespace starling
