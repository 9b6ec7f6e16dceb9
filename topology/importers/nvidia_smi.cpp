// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/nvidia_smi.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "topology/importers/machine.h"

namespace starling {
namespace {

constexpr double kNvlinkGbps = 200;

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) {
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

bool is_gpu(const std::string& label) { return label.rfind("GPU", 0) == 0; }
bool near_by(const std::string& relation) { return relation == "PIX" || relation == "PXB"; }
int nvlinks(const std::string& relation) {
  return relation.rfind("NV", 0) == 0 ? std::atoi(relation.c_str() + 2) : 0;
}

struct Matrix {
  std::vector<std::string> devices;              // columns, GPUs first
  std::vector<std::vector<std::string>> of_gpu;  // by GPU, by device
  std::vector<std::string> affinity;             // by GPU
};

Matrix read_matrix(const std::string& text, Diagnostics& diagnostics) {
  Matrix matrix;
  std::istringstream in(text);
  std::string line;
  std::size_t affinity_column = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (number == 1) {
      for (std::size_t i = 1; i < cells.size(); ++i) {
        if (cells[i] == "CPU Affinity") affinity_column = i;
        if (affinity_column == 0) matrix.devices.push_back(cells[i]);
      }
      continue;
    }
    if (cells.empty() || !is_gpu(cells[0])) continue;
    if (cells.size() <= matrix.devices.size()) {
      diagnostics.add({number, 0}, std::to_string(cells.size()) + " cells; write " +
                                       std::to_string(matrix.devices.size() + 1) +
                                       ", apart by tabs, as the first line has");
      continue;
    }
    matrix.of_gpu.emplace_back(
        cells.begin() + 1, cells.begin() + 1 + static_cast<std::ptrdiff_t>(matrix.devices.size()));
    for (const std::string& relation : matrix.of_gpu.back()) {
      static const char* const known[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
      if (nvlinks(relation) == 0 && std::count(std::begin(known), std::end(known), relation) == 0) {
        diagnostics.add({number, 0}, "'" + relation.substr(0, 20) +
                                         "' is no relation; write X, NV#, PIX, PXB, PHB, NODE or "
                                         "SYS");
        break;
      }
    }
    matrix.affinity.push_back(
        affinity_column > 0 && affinity_column < cells.size() ? cells[affinity_column] : "");
  }
  const auto gpus =
      static_cast<std::size_t>(std::count_if(matrix.devices.begin(), matrix.devices.end(), is_gpu));
  if (!diagnostics.any() && gpus != matrix.of_gpu.size()) {
    diagnostics.add({1, 0}, std::to_string(gpus) + " columns of GPUs but " +
                                std::to_string(matrix.of_gpu.size()) + " rows; write one each");
  }
  return matrix;
}

bool share_switch(const Matrix& matrix, std::size_t a, std::size_t b) {
  if (near_by(matrix.of_gpu[a][b])) return true;
  for (std::size_t nic = matrix.of_gpu.size(); nic < matrix.devices.size(); ++nic) {
    if (near_by(matrix.of_gpu[a][nic]) && near_by(matrix.of_gpu[b][nic])) return true;
  }
  return false;
}

std::size_t island_of_cliques(const Matrix& matrix, const std::vector<std::size_t>& order) {
  const std::size_t gpus = order.size();
  for (std::size_t size = gpus; size > 1; --size) {
    if (gpus % size != 0) continue;
    bool all = true;
    for (std::size_t i = 0; all && i < gpus; ++i) {
      for (std::size_t j = i / size * size; all && j < i; ++j) {
        all = nvlinks(matrix.of_gpu[order[i]][order[j]]) > 0;
      }
    }
    if (all) return size;
  }
  return 0;
}

// Of the GPU with the fewest: its NVLinks to others of its island, or through the NVSwitches.
int least_links(const Matrix& matrix, const std::vector<std::size_t>& order, std::size_t island,
                bool inside) {
  int least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    int sum = 0;
    int most = 0;
    for (std::size_t j = 0; j < order.size(); ++j) {
      if ((i / island == j / island) != inside) continue;
      const int links = nvlinks(matrix.of_gpu[order[i]][order[j]]);
      sum += links;
      most = std::max(most, links);
    }
    // Switched NVLinks are counted again for every peer.
    const int links = most >= 4 ? most : sum;
    least = i == 0 ? links : std::min(least, links);
  }
  return least;
}

}  // namespace

bool is_nvidia_smi_matrix(std::string_view first_line) noexcept {
  return first_line.substr(0, first_line.find("GPU0")).find_first_not_of(" \t") ==
             std::string_view::npos &&
         first_line.find("GPU0") != std::string_view::npos;
}

Result<Topology> import_nvidia_smi(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  const Matrix matrix = read_matrix(text, diagnostics);
  if (diagnostics.any()) return diagnostics.error();
  Machine machine;
  std::vector<std::size_t> order;
  std::vector<bool> taken(matrix.of_gpu.size());
  std::map<std::string, std::size_t> socket_of;
  for (const std::string& cpus : matrix.affinity) socket_of.emplace(cpus, socket_of.size());
  machine.sockets.resize(socket_of.size());
  std::vector<std::vector<std::size_t>> in_socket(socket_of.size());
  for (std::size_t a = 0; a < matrix.of_gpu.size(); ++a) {
    if (taken[a]) continue;
    const std::size_t socket = socket_of[matrix.affinity[a]];
    machine.sockets[socket].push_back(0);
    for (std::size_t b = a; b < matrix.of_gpu.size(); ++b) {
      if (taken[b] || (b != a && !share_switch(matrix, a, b))) continue;
      taken[b] = true;
      ++machine.sockets[socket].back();
      in_socket[socket].push_back(b);
    }
  }
  for (const auto& gpus : in_socket) order.insert(order.end(), gpus.begin(), gpus.end());

  machine.nvlink_island = static_cast<std::uint32_t>(island_of_cliques(matrix, order));
  machine.gpu_type = "T4";
  if (const std::size_t island = machine.nvlink_island; island > 0) {
    const int inside = least_links(matrix, order, island, true);
    const int outside = island < order.size() ? least_links(matrix, order, island, false) : 0;
    machine.nvlink_gbps = inside * kNvlinkGbps;
    if (outside > 0) machine.pcie_gbps = outside * kNvlinkGbps;
    const int links = inside + outside;
    machine.gpu_type = links >= 18 ? "H100" : links >= 12 ? "A100" : links > 4 ? "V100" : "P100";
  }
  machine.nic_gbps = machine.gpu_type == "H100" ? 400 : machine.gpu_type == "A100" ? 200 : 100;
  std::uint32_t close = 0;
  for (std::size_t nic = matrix.of_gpu.size(); nic < matrix.devices.size(); ++nic) {
    const bool any = std::any_of(matrix.of_gpu.begin(), matrix.of_gpu.end(),
                                 [nic](const auto& row) { return near_by(row[nic]); });
    close += any ? 1 : 0;
    ++machine.nics;
  }
  if (close > 0) machine.nics = close;
  return topology_of(machine, file_name, diagnostics);
}

}  // namespace starling
