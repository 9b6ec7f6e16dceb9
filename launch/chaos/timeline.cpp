// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/timeline.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <vector>

#include "launch/chaos/scenario/fault_kinds.h"

namespace starling::chaos_live {
namespace {

namespace fs = std::filesystem;

struct Line {
  double at = 0;
  std::string text;
};

/// Seconds of the epoch at the head of a log's line, as launch/system/log.cpp writes it.
std::optional<double> wall_of(const std::string& line) {
  std::tm when{};
  int millis = 0;
  if (std::sscanf(line.c_str(), "%4d-%2d-%2d %2d:%2d:%2d.%3d", &when.tm_year, &when.tm_mon,
                  &when.tm_mday, &when.tm_hour, &when.tm_min, &when.tm_sec, &millis) != 7)
    return std::nullopt;
  when.tm_year -= 1900;
  when.tm_mon -= 1;
  when.tm_isdst = -1;
  return static_cast<double>(std::mktime(&when)) + millis / 1000.0;
}

void add_log(const fs::path& file, double began_wall, std::vector<Line>& lines) {
  std::ifstream in(file);
  double last = 0;  // lines without a time belong to the one before
  for (std::string line; std::getline(in, line);) {
    if (const auto wall = wall_of(line)) {
      last = *wall - began_wall;
      line.erase(0, std::min<std::size_t>(line.size(), 24));
    }
    lines.push_back({last, "  " + line});
  }
}

}  // namespace

std::string timeline(const LiveReport& r) {
  std::vector<Line> lines;
  for (const FaultRecord& f : r.faults) {
    if (f.skipped) continue;
    const std::string what = std::string(name_of(f.kind)) + " " + f.whom;
    lines.push_back({f.at, "+ " + what});
    if (f.until > f.at) lines.push_back({f.until, "- " + what});
  }
  for (const Violation& v : r.violations) lines.push_back({v.at, "! " + v.rule + ": " + v.message});
  std::error_code ignored;
  for (const auto& node : fs::directory_iterator(r.dir / "flock" / "nodes", ignored)) {
    for (const char* name : {"log.1", "log"}) add_log(node.path() / name, r.began_wall, lines);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.at < b.at; });
  std::string text =
      "seconds since the start; + a fault begins, - it ends, ! a promise is broken\n";
  char at[32];
  for (const Line& line : lines) {
    std::snprintf(at, sizeof at, "%10.3f ", line.at);
    text += at + line.text + "\n";
  }
  return text;
}

}  // namespace starling::chaos_live
