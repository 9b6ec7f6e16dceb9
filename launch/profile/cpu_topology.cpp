// SPDX-License-Identifier: Apache-2.0
#include "launch/profile/cpu_topology.h"

#include <algorithm>
#include <cctype>

#include "workload/text/csv.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

std::string first_line(const std::filesystem::path& file) {
  const Result<std::string> text = read_text_file(file);
  return text ? text.value().substr(0, text.value().find('\n')) : "";
}

/// The CPUs that share the cache of the highest level.
std::string last_level_cache(const std::filesystem::path& cpu) {
  std::string shared;
  std::int64_t highest = 0;
  for (int index = 0; index < 16; ++index) {
    const std::filesystem::path cache = cpu / "cache" / ("index" + std::to_string(index));
    std::int64_t level = 0;
    if (!parse_number(first_line(cache / "level"), level)) break;
    if (level >= highest) shared = first_line(cache / "shared_cpu_list");
    highest = std::max(highest, level);
  }
  return shared;
}

ProfileRelation relation_of(const CpuInfo& a, const CpuInfo& b) {
  if (a.number == b.number) return ProfileRelation::same_core;
  if (a.socket != b.socket) return ProfileRelation::other_socket;
  if (a.core == b.core) return ProfileRelation::same_smt;
  if (!a.cache.empty() && a.cache == b.cache) return ProfileRelation::same_cache;
  return ProfileRelation::same_socket;
}

}  // namespace

Result<std::vector<int>> parse_cores(std::string_view text) {
  std::vector<int> cores;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, comma - at);
    const std::size_t dash = std::min(word.find('-'), word.size());
    std::int64_t first = 0, last = 0;
    const bool right = parse_number(word.substr(0, dash), first) &&
                       parse_number(dash == word.size() ? word : word.substr(dash + 1), last) &&
                       first >= 0 && first <= last && last < CPU_SETSIZE;
    if (!right) {
      return {Errc::invalid,
              "'" + std::string(word) + "' is no core; give numbers as in 0,1 or ranges as in 0-3"};
    }
    for (auto core = static_cast<int>(first); core <= static_cast<int>(last); ++core) {
      if (std::find(cores.begin(), cores.end(), core) != cores.end())
        return {Errc::invalid, "core " + std::to_string(core) + " is named twice; once is enough"};
      cores.push_back(core);
    }
    at = comma + 1;
  }
  return cores;
}

std::vector<CpuInfo> read_cpu_topology(const std::filesystem::path& folder,
                                       const std::vector<int>& cpus) {
  std::vector<CpuInfo> out;
  for (const int number : cpus) {
    const std::filesystem::path cpu = folder / ("cpu" + std::to_string(number));
    CpuInfo info{number, first_line(cpu / "topology/thread_siblings_list"), last_level_cache(cpu),
                 first_line(cpu / "topology/physical_package_id")};
    if (info.core.empty()) info.core = std::to_string(number);
    if (info.socket.empty()) info.socket = "0";
    out.push_back(std::move(info));
  }
  return out;
}

std::vector<CorePlace> places_of(const std::vector<CpuInfo>& cpus) {
  std::vector<CorePlace> places;
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    for (std::size_t b = a; b < cpus.size(); ++b) {
      const ProfileRelation relation = relation_of(cpus[a], cpus[b]);
      const bool known = std::any_of(places.begin(), places.end(), [&](const CorePlace& place) {
        return place.relation == relation;
      });
      if (!known) places.push_back({relation, cpus[a].number, cpus[b].number});
    }
  }
  std::sort(places.begin(), places.end(),
            [](const CorePlace& x, const CorePlace& y) { return x.relation < y.relation; });
  return places;
}

std::string hardware_name(std::string_view cpuinfo, std::size_t cpus) {
  std::string name;
  if (const std::size_t at = cpuinfo.find("model name"); at != std::string_view::npos) {
    const std::string_view line = cpuinfo.substr(at, cpuinfo.find('\n', at) - at);
    const std::size_t colon = std::min(line.find(':'), line.size());
    for (const char c : line.substr(std::min(colon + 1, line.size()))) {
      if (name.size() >= 32) break;
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!name.empty() && name.back() != '-') {
        name += '-';
      }
    }
  }
  if (name.empty()) name = "cpu";
  if (name.back() != '-') name += '-';
  return name + std::to_string(cpus) + "cpu";
}

}  // namespace starling
