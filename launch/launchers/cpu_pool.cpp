// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/cpu_pool.h"

#include <algorithm>

namespace starling {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

CpuPool::CpuPool() : CpuPool(allowed_cpus()) {}
CpuPool::CpuPool(std::vector<int> cpus) {
  for (const int cpu : cpus) cpus_.push_back({cpu, 0});
}

std::vector<int> CpuPool::take(std::size_t count) {
  std::vector<Cpu*> by_use;
  for (Cpu& cpu : cpus_) by_use.push_back(&cpu);
  std::stable_sort(by_use.begin(), by_use.end(),
                   [](auto* a, auto* b) { return a->users < b->users; });
  by_use.resize(std::min(count, by_use.size()));
  std::vector<int> taken;
  for (Cpu* cpu : by_use) {
    ++cpu->users;
    taken.push_back(cpu->number);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

void CpuPool::mark_used(const std::vector<int>& cpus) {
  for (Cpu& cpu : cpus_) {
    if (std::find(cpus.begin(), cpus.end(), cpu.number) != cpus.end()) ++cpu.users;
  }
}

void CpuPool::release(const std::vector<int>& cpus) {
  for (Cpu& cpu : cpus_) {
    if (std::binary_search(cpus.begin(), cpus.end(), cpu.number) && cpu.users > 0) --cpu.users;
  }
}

}  // namespace starling
