// SPDX-License-Identifier: Apache-2.0
// For tests: as much of NVML as Starling asks. What there is stands in the JSON file that
// FAKE_NVML_FILE names, read anew whenever it has changed, so that a test can break a GPU:
//   {"gpus": [{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-1", "serial": "1", "memory_gib": 80,
//     "pci": "0000:1b:00.0", "links": [{"switch": true}, {"peer": "0000:43:00.0"}],
//     "link_mbytes": 26562, "mig": ["1g.10gb"], "cluster": "ab", "clique": 1, "utilisation": 0,
//     "temperature": 40, "slowdown": 90, "ecc": 0, "throttled": 0, "energy_mj": 5, "lost": false,
//     "remap_failed": false}], "xids": [[1, 79]], "processes": [[0, 4711]], "hangs_s": 0}
// Fields that are left out are not supported, as by an older driver. An XID is told once for each
// time that it stands there. Without the file the environment says what the guardian's tests need:
// FAKE_NVML_COUNT devices; FAKE_NVML_PID has a context on GPU FAKE_NVML_GPU. FAKE_NVML_BROKEN: the
// driver does not answer.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace {

using nlohmann::json;
constexpr int kDone = 0, kWrong = 2, kUnsupported = 3, kTimeout = 10, kLost = 15;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
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
  unsigned long long value;
};
struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

constexpr unsigned kMost = 256;
int handles[kMost];
int slices[kMost][8];
std::size_t xids_told = 0;

const json& state() {
  static json now;
  static std::string text;
  const char* const file = std::getenv("FAKE_NVML_FILE");
  if (file == nullptr) return now = json::object();
  std::ifstream in(file);
  std::string fresh((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (fresh == text) return now;
  const json read = json::parse(fresh, nullptr, false);
  if (!read.is_discarded()) now = read, text = fresh;
  return now;
}

unsigned count() {
  if (state().contains("gpus")) return static_cast<unsigned>(state()["gpus"].size());
  const char* const said = std::getenv("FAKE_NVML_COUNT");
  return said == nullptr ? 0 : static_cast<unsigned>(std::atoi(said));
}

unsigned index_of(const void* device) {
  return static_cast<unsigned>(static_cast<const int*>(device) - handles);
}

/// The field of that GPU: `into`, and how the call ends.
template <class T>
int field(const void* device, const char* name, T* into) {
  const unsigned index = index_of(device);
  if (index >= count() || !state().contains("gpus")) return kUnsupported;
  const json& gpu = state()["gpus"][index];
  if (gpu.value("lost", false)) return kLost;
  if (!gpu.contains(name)) return kUnsupported;
  *into = gpu[name].get<T>();
  return kDone;
}

int text(const void* device, const char* name, char* into, unsigned length) {
  std::string value;
  const int result = field(device, name, &value);
  if (result == kDone) std::snprintf(into, length, "%s", value.c_str());
  return result;
}

void parse_pci(const std::string& text, PciInfo* into) {
  *into = {};
  std::sscanf(text.c_str(), "%x:%x:%x", &into->domain, &into->bus, &into->device);
  std::snprintf(into->id, sizeof into->id, "%s", text.c_str());
}

const json* link_of(const void* device, unsigned link) {
  const unsigned index = index_of(device);
  if (index >= count() || !state().contains("gpus")) return nullptr;
  const json& gpu = state()["gpus"][index];
  return gpu.contains("links") && link < gpu["links"].size() ? &gpu["links"][link] : nullptr;
}

bool is_slice(const void* device) {
  const int* const at = static_cast<const int*>(device);
  return at >= &slices[0][0] && at < &slices[0][0] + kMost * 8;
}

}  // namespace

extern "C" {
int nvmlInit_v2() {
  const double hangs = state().value("hangs_s", 0.0);
  std::this_thread::sleep_for(std::chrono::duration<double>(hangs));
  return std::getenv("FAKE_NVML_BROKEN") == nullptr ? kDone : 999;
}
int nvmlDeviceGetCount_v2(unsigned* all) { return *all = count(), kDone; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= kMost) return kWrong;
  if (state().contains("gpus") &&
      (index >= count() || state()["gpus"][index].value("unreachable", false)))
    return index >= count() ? kWrong : kLost;
  *device = &handles[index];
  return kDone;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  if (!is_slice(device)) return text(device, "name", name, length);
  const auto at = static_cast<std::size_t>(static_cast<int*>(device) - &slices[0][0]);
  const json& gpu = state()["gpus"][at / 8];
  std::snprintf(name, length, "%s MIG %s", gpu.value("name", "").c_str(),
                gpu["mig"][at % 8].get<std::string>().c_str());
  return kDone;
}
int nvmlDeviceGetUUID(void* d, char* uuid, unsigned length) {
  return text(d, "uuid", uuid, length);
}
int nvmlDeviceGetSerial(void* d, char* s, unsigned length) { return text(d, "serial", s, length); }
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  double gib = 0;
  const int result = field(device, "memory_gib", &gib);
  *memory = {static_cast<unsigned long long>(gib * 1024 * 1024 * 1024), 0, 0};
  return result;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  std::string address;
  const int result = field(device, "pci", &address);
  if (result == kDone) parse_pci(address, pci);
  return result;
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* pending) {
  json mig;
  *now = *pending = field(device, "mig", &mig) == kDone ? 1 : 0;
  return kDone;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* most) { return *most = 7, kDone; }
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned slice, void** found) {
  json mig;
  if (field(device, "mig", &mig) != kDone || slice >= mig.size()) return 6;
  *found = &slices[index_of(device)][slice];
  return kDone;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* up) {
  const json* const found = link_of(device, link);
  if (found == nullptr) return kWrong;
  *up = found->value("down", false) ? 0 : 1;
  return kDone;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned link, int* type) {
  const json* const found = link_of(device, link);
  if (found == nullptr) return kWrong;
  *type = found->value("switch", false) ? 2 : 0;
  return kDone;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, PciInfo* pci) {
  const json* const found = link_of(device, link);
  if (found == nullptr || !found->contains("peer")) return kWrong;
  parse_pci((*found)["peer"].get<std::string>(), pci);
  return kDone;
}
int nvmlDeviceGetFieldValues(void* device, int, FieldValue* value) {
  unsigned mbytes = 0;
  value->result = value->field == 90 ? field(device, "link_mbytes", &mbytes) : kUnsupported;
  value->value = mbytes;
  return kDone;
}
int nvmlDeviceGetGpuFabricInfo(void* device, FabricInfo* info) {
  std::string cluster;
  *info = {};
  if (field(device, "cluster", &cluster) != kDone) return kUnsupported;
  std::memcpy(info->cluster, cluster.data(), std::min<std::size_t>(cluster.size(), 16));
  (void)field(device, "clique", &info->clique);
  info->state = 3;
  return kDone;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilisation* busy) {
  return field(device, "utilisation", &busy->gpu);
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* degrees) {
  return field(device, "temperature", degrees);
}
int nvmlDeviceGetTemperatureThreshold(void* device, int, unsigned* degrees) {
  return field(device, "slowdown", degrees);
}
int nvmlDeviceGetTotalEccErrors(void* device, int, int, unsigned long long* errors) {
  return field(device, "ecc", errors);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return field(device, "throttled", reasons);
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* mj) {
  return field(device, "energy_mj", mj);
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* a, unsigned* b, unsigned* c,
                              unsigned* failed) {
  bool no_spare = false;
  *a = *b = *c = 0;
  const int result = field(device, "remap_failed", &no_spare);
  *failed = no_spare ? 1 : 0;
  return result;
}
int nvmlEventSetCreate(void** set) { return *set = &xids_told, kDone; }
int nvmlEventSetFree(void*) { return kDone; }
int nvmlDeviceRegisterEvents(void*, unsigned long long, void*) { return kDone; }
int nvmlEventSetWait_v2(void*, EventData* event, unsigned) {
  if (!state().contains("xids") || xids_told >= state()["xids"].size()) return kTimeout;
  const json& xid = state()["xids"][xids_told++];
  *event = {&handles[xid[0].get<unsigned>() % kMost], 8, xid[1].get<unsigned long long>(), 0, 0};
  return kDone;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* all, ProcessInfo* infos) {
  const unsigned most = *all;
  *all = 0;
  if (state().contains("processes")) {
    for (const json& process : state()["processes"]) {
      if (process[0] == index_of(device) && *all < most)
        infos[(*all)++] = {process[1].get<unsigned>(), 1, 0, 0};
    }
    return kDone;
  }
  const char* const pid = std::getenv("FAKE_NVML_PID");
  const char* const gpu = std::getenv("FAKE_NVML_GPU");
  if (pid != nullptr && gpu != nullptr && device == &handles[std::atoi(gpu) % kMost])
    infos[(*all)++] = {static_cast<unsigned>(std::atoi(pid)), 1, 0, 0};
  return kDone;
}
}
