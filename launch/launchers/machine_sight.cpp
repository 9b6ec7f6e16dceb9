// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/machine_sight.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "launch/guardian/nvml.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// Files in `folder` that are `prefix` and a number.
std::uint32_t numbered(const fs::path& folder, std::string_view prefix) {
  std::uint32_t count = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool number =
        name.size() > prefix.size() && name.starts_with(prefix) &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number) ++count;
  }
  return count;
}

std::uint32_t gpus_of_driver(const std::string& library) {
  void* const nvml = open_nvml(library);
  if (nvml == nullptr) return 0;
  const auto ask = nvml_call<int (*)(unsigned*)>(nvml, "nvmlDeviceGetCount_v2");
  unsigned count = 0;
  if (ask == nullptr || ask(&count) != kNvmlSuccess) return 0;
  return count;
}

/// "32 GPUs, 512 CPUs and 4096 GiB of memory" of the two or three that are said.
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

}  // namespace

MachineSight look_at_machine(const fs::path& devices, const std::string& library) {
  MachineSight sight;
  sight.gpus = std::max(gpus_of_driver(library), numbered(devices, "nvidia"));
  // Render nodes are of other vendors' GPUs where their compute driver is.
  std::error_code error;
  if (fs::exists(devices / "kfd", error))
    sight.gpus = std::max(sight.gpus, numbered(devices / "dri", "renderD"));
  sight.gpus = std::max(sight.gpus, numbered(devices / "accel", "accel"));
  cpu_set_t mine;
  const bool known = ::sched_getaffinity(0, sizeof mine, &mine) == 0;
  sight.cpus = static_cast<std::uint32_t>(known ? CPU_COUNT(&mine)
                                                : std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  sight.memory_gib = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(::sysconf(_SC_PAGE_SIZE)) / kGib;
  return sight;
}

std::string lacking(const MachineSight& machine, const Topology& topology, IndexRange servers) {
  std::uint32_t gpus = 0;
  double cpus = 0, memory_gib = 0;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    gpus += server.gpus.size();
    cpus += server.cpus;
    memory_gib += server.memory_gib;
  }
  std::vector<std::string> said, there;
  const auto compare = [&](bool lacks, const std::string& asked, const std::string& has) {
    if (!lacks) return;
    said.push_back(asked);
    there.push_back(has);
  };
  compare(gpus > machine.gpus, fmt::format("{} GPUs", gpus), fmt::format("{} GPUs", machine.gpus));
  compare(cpus > machine.cpus, fmt::format("{:g} CPUs", cpus),
          fmt::format("{} CPUs", machine.cpus));
  compare(memory_gib * 0.9 > machine.memory_gib, fmt::format("{:.0f} GiB of memory", memory_gib),
          fmt::format("{:.0f} GiB of memory", machine.memory_gib));
  if (said.empty()) return "";
  return "the topology gives this machine " + listed(said) + ", of which " + listed(there) +
         " can be seen; jobs are placed as if all were there";
}

}  // namespace starling
