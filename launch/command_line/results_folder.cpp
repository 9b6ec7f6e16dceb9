// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/results_folder.h"

#include <fstream>
#include <iterator>
#include <string>

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Known {
  const char* name;
  const char* mark;  ///< stands in every such file that Starling writes
};
constexpr Known kResults[] = {
    {"summary.json", "\"schema\""},
    {"experiment.json", "\"schema\""},
    {"jobs.csv", "submit_s,start_s"},
    {"jobs-sim.csv", "submit_s,start_s"},
    {"table.md", "(baseline − policy) / (baseline − floor)"},
    {"table.csv", "policy,agents,family,may,knows"},
    {"report.html", "<script id=\"data\" type=\"application/json\">"},
};

/// An empty one is what a run leaves that ended before its first row: nothing is lost with it.
bool is_ours(const fs::path& file, const std::string& mark) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.empty() || text.find(mark) != std::string::npos;
}

}  // namespace

Status can_take_results(const fs::path& dir) {
  std::error_code error;
  const fs::file_status status = fs::status(dir, error);
  if (status.type() == fs::file_type::not_found) return done();
  if (status.type() != fs::file_type::directory)
    return {Errc::invalid, dir.string() + " is a file; name a folder, or move it"};
  for (const Known& known : kResults) {
    const fs::path file = dir / known.name;
    if (!fs::exists(file, error) || is_ours(file, known.mark)) continue;
    return {Errc::invalid,
            file.string() + " is not Starling's and would be replaced; give a new folder"};
  }
  return done();
}

}  // namespace starling
