// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>

#include "topology/file/load.h"
#include "topology/importers/file_kind.h"

namespace starling {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kDgx =
    "gpus 8, gpu_type H100, cpus 224, memory_gib 2048, nic_gbps 3200, nvlink_gbps 3600 of every "
    "server: a DGX-H100's, since the file names no hardware";
constexpr const char* kTrays =
    "gpus 4, gpu_type GB200, cpus 144, memory_gib 960, nic_gbps 1600, nvlink_gbps 7200 of every "
    "server that shares an accelerator domain with others: a tray of a GB200 NVL72";
constexpr const char* kOtherDgx =
    "gpus 8, gpu_type H100, cpus 224, memory_gib 2048, nic_gbps 3200, nvlink_gbps 3600 of every "
    "other server: a DGX-H100's, since the file names no hardware";
constexpr const char* kOneRack =
    "one rack with one switch: the list does not say where servers stand";
constexpr const char* kNodeNetwork =
    "island of at most 4, nvlink_gbps 400, pcie_gbps 128, nic_gbps 100 of every server";
constexpr const char* kUplinks =
    "links between switches: each carries what all servers below it send";

Lines of_slurm(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file.parent_path() / "gres.conf")) return {kDgx, kUplinks};
  return {
      "cpus 224, memory_gib 2048, nic_gbps 3200, nvlink_gbps 3600, island of at most 8 of every "
      "server: a DGX-H100's, whatever its GPUs, since gres.conf has only their type and number",
      kUplinks};
}

}  // namespace

Lines assumed_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream whole;
  whole << in.rdbuf();
  const std::string text = whole.str();
  switch (kind_of(text)) {
    case FileKind::openb:
      return {kOneRack, kNodeNetwork, "memory_gib of GPU types G2 and G3: 16 and 32"};
    case FileKind::pai:
      return {kOneRack, kNodeNetwork, "memory_gib of unknown GPU types: 16"};
    case FileKind::spot:
      return {kOneRack, kNodeNetwork, "memory_gib: 8 a CPU"};
    case FileKind::lingjun:
      return {"gpus 8, gpu_type A100-80GB, cpus 128, memory_gib 1024, nic_gbps 800 of every server",
              "links between switches: such that they do not throttle the largest rack"};
    case FileKind::nvidia_smi:
      return {
          "gpu_type by the number of NVLinks; nvlink_gbps: 200 each; cpus, memory_gib and "
          "nic_gbps: the matrix has none (12 CPUs and 64 GiB a GPU, 100 Gbit/s a NIC)"};
    case FileKind::nccl:
      return {
          "gpu_type and nvlink_gbps by the file's name, else V100 without NVLink; cpus and "
          "memory_gib: 12 and 64 a GPU where the file has none"};
    case FileKind::hwloc:
      return {"nic_gbps: 100 a NIC; gpu_type V100 where the file names none"};
    case FileKind::slurm_conf:
    case FileKind::slurm_yaml:
      return of_slurm(path);
    case FileKind::topograph:
      return {kTrays, kOtherDgx, kUplinks,
              "scale_up_gbps 7200 of every accelerator domain of several nodes, blocks are read as "
              "racks; a domain whose nodes do not come one after another is left out"};
    case FileKind::hived:
      return {
          "nic_gbps 100, no NVLink; cpus and memory_gib: 12 and 64 a GPU where the file has none"};
    case FileKind::ours:
      break;
  }
  return {};
}

}  // namespace starling
