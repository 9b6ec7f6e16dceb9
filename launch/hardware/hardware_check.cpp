// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/hardware_check.h"

#include <cmath>

#include "base/counted.h"
#include "topology/gpu_catalogue.h"

namespace starling {
namespace {

constexpr double kKept = 0.15;  // of its memory, at most, by the driver and for error correction

bool same_model(const GpuFound& gpu, const GpuType& type) {
  const auto found = gpu_type_in(gpu.model);
  const auto wanted = gpu_type_in(type.name);
  // A name that says less, as A100 for an A100-80GB, is judged by memory alone.
  const auto family = [](const std::string& name) { return name.substr(0, name.find('-')); };
  return !found || !wanted || family(found->name) == family(wanted->name);
}

std::string flaw_of(const GpuFound& gpu, const GpuType& type) {
  if (gpu.model.empty()) return "the driver cannot reach it";
  if (!same_model(gpu, type)) return "it is a " + gpu.model + ", the topology says " + type.name;
  if (gpu.memory_gib > 0 && gpu.memory_gib < type.memory_gib * (1 - kKept))
    return "it has " + std::to_string(std::lround(gpu.memory_gib)) +
           " GiB of memory, the topology says " + std::to_string(std::lround(type.memory_gib));
  return "";
}

/// "GPU 3 (GPU-5f..) of h1 is not used: WHY", "GPUs 4 to 7 of h1 are not used: WHY".
std::string sentence(const std::vector<std::uint32_t>& local, const std::vector<GpuFound>& gpus,
                     const std::string& server, const std::string& why) {
  if (local.size() > 1)
    return "GPUs " + std::to_string(local.front()) + " to " + std::to_string(local.back()) +
           " of " + server + " are not used: " + why;
  const std::uint32_t only = local.front();
  const bool known = only < gpus.size() && !gpus[only].uuid.empty();
  return "GPU " + std::to_string(only) + (known ? " (" + gpus[only].uuid + ")" : "") + " of " +
         server + " is not used: " + why;
}

}  // namespace

std::vector<HardwareFinding> missing_gpus(const std::vector<GpuFound>& gpus,
                                          const Topology& topology, IndexRange servers) {
  std::vector<HardwareFinding> all;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    std::vector<std::uint32_t> open;  // that lack in the same way, one after the other
    std::string why;
    const auto close = [&] {
      if (why.empty()) return;
      HardwareFinding finding{
          HardwareFinding::Kind::bad, {}, sentence(open, gpus, server.name, why)};
      for (const std::uint32_t local : open)
        finding.gpus.push_back(GpuId{server.gpus.first + local});
      all.push_back(std::move(finding));
      open.clear();
    };
    for (std::uint32_t local = 0; local < server.gpus.size(); ++local) {
      const std::string flaw =
          local >= gpus.size() ? "the machine has " + counted(gpus.size(), "GPU")
                               : flaw_of(gpus[local], topology.gpu_types()[server.gpu_type.value]);
      if (flaw != why) close();
      why = flaw;
      if (!flaw.empty()) open.push_back(local);
    }
    close();
  }
  return all;
}

bool is_about_others(const std::vector<GpuFound>& gpus, const Topology& topology,
                     IndexRange servers) {
  bool reached = false;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    for (std::uint32_t local = 0; local < server.gpus.size() && local < gpus.size(); ++local) {
      if (gpus[local].model.empty()) continue;
      reached = true;
      if (same_model(gpus[local], topology.gpu_types()[server.gpu_type.value])) return false;
    }
  }
  return reached;
}

std::vector<std::string> replaced_gpus(const std::vector<GpuFound>& gpus,
                                       const std::vector<std::string>& before) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < gpus.size() && i < before.size(); ++i) {
    if (gpus[i].uuid.empty() || before[i].empty() || gpus[i].uuid == before[i]) continue;
    all.push_back("GPU " + std::to_string(i) + " is another one than before: " + gpus[i].uuid +
                  ", it was " + before[i]);
  }
  return all;
}

}  // namespace starling
