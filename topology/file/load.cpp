// SPDX-License-Identifier: Apache-2.0
#include "topology/file/load.h"

#include <yaml-cpp/exceptions.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "topology/file/spec.h"
#include "topology/importers/file_kind.h"
#include "topology/importers/hived.h"
#include "topology/importers/hwloc.h"
#include "topology/importers/lingjun.h"
#include "topology/importers/nccl.h"
#include "topology/importers/node_list.h"
#include "topology/importers/nvidia_smi.h"
#include "topology/importers/openb.h"
#include "topology/importers/slurm.h"
#include "topology/importers/topograph.h"

namespace starling {
namespace {

constexpr std::uintmax_t kFileBytesMax = 256U << 20U;

Result<std::string> read_text(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) return Error{Errc::io, path + ": " + failed.message() + "; name a topology file"};
  if (size > kFileBytesMax) {
    return Error{Errc::invalid, path + ": larger than 256 MiB; use counts instead of lists"};
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Error{Errc::io, path + ": cannot be read"};
  return text.str();
}

}  // namespace

Result<Topology> parse_topology_yaml(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  try {
    const std::string stem = std::filesystem::path(file_name).stem().string();
    const TopologySpec spec = read_spec(text, stem.empty() ? "topology" : stem, diagnostics);
    if (diagnostics.any()) return diagnostics.error();
    return build_spec(spec, diagnostics);
  } catch (const YAML::Exception& e) {
    const SourcePlace place =
        e.mark.is_null() ? SourcePlace{} : SourcePlace{e.mark.line + 1, e.mark.column + 1};
    diagnostics.add(place, "not valid YAML: " + e.msg + "; check indentation, colons and brackets");
  } catch (const std::exception& e) {
    diagnostics.add({}, std::string("cannot be read: ") + e.what() + "; write a smaller file");
  }
  return diagnostics.error();
}

Result<Topology> parse_topology(const std::string& text, const std::string& file_name) {
  switch (kind_of(text)) {
    case FileKind::openb:
      return import_openb(text, file_name);
    case FileKind::lingjun:
      return import_lingjun(text, file_name);
    case FileKind::pai:
      return import_pai(text, file_name);
    case FileKind::spot:
      return import_spot(text, file_name);
    case FileKind::nvidia_smi:
      return import_nvidia_smi(text, file_name);
    case FileKind::nccl:
      return import_nccl(text, file_name);
    case FileKind::hwloc:
      return import_hwloc(text, file_name);
    case FileKind::slurm_conf:
      return import_slurm_conf(text, file_name);
    case FileKind::slurm_yaml:
      return import_slurm_yaml(text, file_name);
    case FileKind::topograph:
      return import_topograph(text, file_name);
    case FileKind::hived:
      return import_hived(text, file_name);
    case FileKind::ours:
      break;
  }
  if (std::filesystem::path(file_name).extension() == ".csv") {
    return Error{Errc::invalid, file_name + ":1: no importer knows the columns '" +
                                    first_line(text).substr(0, 80) + "'; expected '" +
                                    kOpenbHeader + "', '" + kLingjunHeader +
                                    "' or another table of docs/topology-format.md"};
  }
  return parse_topology_yaml(text, file_name);
}

Result<Topology> load_topology(const std::string& path) {
  const auto text = read_text(path);
  if (!text.ok()) return text.error();
  const std::filesystem::path gres = std::filesystem::path(path).parent_path() / "gres.conf";
  const bool conf = is_slurm_conf(text.value());
  if ((conf || is_slurm_yaml(text.value())) && std::filesystem::exists(gres)) {
    const auto hardware = read_text(gres.string());
    if (!hardware.ok()) return hardware.error();
    return (conf ? import_slurm_conf : import_slurm_yaml)(text.value(), path, hardware.value(),
                                                          gres.string());
  }
  return parse_topology(text.value(), path);
}

std::string to_yaml(const Topology& topology, const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "# " + remark + '\n';
  return text + to_yaml(topology);
}

Status save_topology(const Topology& topology, const std::string& path,
                     const std::vector<std::string>& remarks) {
  std::ofstream out(path, std::ios::binary);
  out << to_yaml(topology, remarks);
  out.close();
  if (!out) return Error{Errc::io, path + ": cannot be written"};
  return done();
}

}  // namespace starling
