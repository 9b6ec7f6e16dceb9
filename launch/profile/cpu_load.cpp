// SPDX-License-Identifier: Apache-2.0
#include "launch/profile/cpu_load.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace starling {

std::map<int, CpuTicks> parse_cpu_ticks(std::string_view proc_stat) {
  std::map<int, CpuTicks> out;
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.size() < 4 || name.rfind("cpu", 0) != 0) continue;  // "cpu" alone is their sum
    // user nice system idle iowait irq softirq steal; guest time is in user already
    std::uint64_t ticks[8] = {};
    for (std::uint64_t& count : ticks) words >> count;
    CpuTicks cpu{ticks[3] + ticks[4], ticks[7], 0};
    for (const std::uint64_t count : ticks) cpu.all += count;
    out[std::atoi(name.c_str() + 3)] = cpu;
  }
  return out;
}

std::map<int, CpuTicks> read_cpu_ticks() {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_cpu_ticks(text.str());
}

CpuShares cpu_shares(const std::map<int, CpuTicks>& before, const std::map<int, CpuTicks>& after,
                     const std::vector<int>& cpus) {
  std::uint64_t idle = 0, stolen = 0, all = 0;
  const auto grown = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
  for (const int cpu : cpus) {
    const auto from = before.find(cpu);
    const auto to = after.find(cpu);
    if (from == before.end() || to == after.end()) continue;
    idle += grown(from->second.idle, to->second.idle);
    stolen += grown(from->second.stolen, to->second.stolen);
    all += grown(from->second.all, to->second.all);
  }
  if (all == 0) return {1, 0};
  const auto total = static_cast<double>(all);
  return {static_cast<double>(idle) / total, static_cast<double>(stolen) / total};
}

double other_load(const CpuShares& shares, std::size_t cpus, double own) {
  const double ours = cpus == 0 ? 0 : own / static_cast<double>(cpus);
  return std::clamp(1 - shares.idle - ours, 0.0, 1.0);
}

}  // namespace starling
