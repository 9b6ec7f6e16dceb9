// SPDX-License-Identifier: Apache-2.0
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

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

FileKind kind_of(const std::string& text) {
  const std::string header = first_line(text);
  if (is_openb_header(header)) return FileKind::openb;
  if (is_lingjun_header(header)) return FileKind::lingjun;
  if (is_pai_header(header)) return FileKind::pai;
  if (is_spot_header(header)) return FileKind::spot;
  if (is_nvidia_smi_matrix(header)) return FileKind::nvidia_smi;
  if (text.find_first_not_of(" \t\r\n") == text.find('<')) {
    if (is_nccl_xml(text)) return FileKind::nccl;
    if (is_hwloc_xml(text)) return FileKind::hwloc;
  }
  if (is_slurm_conf(text)) return FileKind::slurm_conf;
  if (is_slurm_yaml(text)) return FileKind::slurm_yaml;
  if (is_topograph_yaml(text)) return FileKind::topograph;
  if (is_hived_yaml(text)) return FileKind::hived;
  return FileKind::ours;
}

}  // namespace starling
