// SPDX-License-Identifier: Apache-2.0
#include "launch/leaderboard/leaderboard.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "base/hash.h"
#include "launch/experiment/run_record.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

constexpr std::uint32_t kFormat = 1;
constexpr double kLongest_s = 1e12;
constexpr std::uint32_t kMost = 2'000'000'000;

/// As YAML reads it back, whatever is in it.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// All digits that a number needs to be read back the same.
std::string exactly(double x) { return nlohmann::json(x).dump(); }

std::string hash_text(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, hash);
  return text.data();
}

std::string text_of(const BoardEntry& entry) {
  std::string seeds;
  for (const std::uint64_t seed : seeds_of(entry))
    seeds += (seeds.empty() ? "" : ", ") + std::to_string(seed);
  std::string text = "  - experiment: " + quoted(entry.experiment) + "\n";
  text += "    name: " + quoted(entry.name) + "\n";
  if (!entry.split.empty()) text += "    split: " + quoted(entry.split) + "\n";
  text += "    label: " + quoted(entry.label) + "\n";
  text += "    policy: " + quoted(entry.policy) + "\n";
  text += "    agents: " + std::to_string(entry.agents) + "\n";
  text += "    seeds: [" + seeds + "]\n";
  text += "    program: " + quoted(entry.program) + "\n";
  text += "    added: " + quoted(entry.added) + "\n";
  text += "    hash: " + quoted(hash_of(entry)) + "\n";
  text += "    mean_jct_s: " + exactly(mean_jct_of(entry)) + "\n    runs:\n";
  for (const BoardRun& run : entry.runs) {
    text += "      - {id: " + quoted(run.id) + ", topology: " + quoted(run.topology) +
            ", workload: " + quoted(run.workload) + ", load: " + exactly(run.load) +
            (run.faults.empty() ? "" : ", faults: " + quoted(run.faults)) +
            ", seed: " + std::to_string(run.seed) + ", hash: " + quoted(run.hash) +
            ", avg_jct_s: " + exactly(run.avg_jct_s) + ", jobs: " + std::to_string(run.jobs) +
            ", unfinished: " + std::to_string(run.unfinished) + "}\n";
  }
  return text;
}

std::string digits(Diagnostics& diagnostics, const YamlMap& map, const char* key) {
  std::string text = map.name(key, std::nullopt);
  if (map.has(key) && !is_run_id(text))
    diagnostics.add(map.place(key), std::string(key) + ": '" + text +
                                        "' is wrong; it is 16 hexadecimal digits, 0-9 and a-f");
  return text;
}

BoardRun read_run(Diagnostics& diagnostics, const YAML::Node& node) {
  const YamlMap map(diagnostics, node, "a run",
                    {"id", "topology", "workload", "load", "faults", "seed", "hash", "avg_jct_s",
                     "jobs", "unfinished"});
  BoardRun run;
  run.id = digits(diagnostics, map, "id");
  run.topology = map.name("topology", std::nullopt);
  run.workload = map.name("workload", std::nullopt);
  run.load = map.number("load", 0, 1e6, std::nullopt);
  run.faults = map.name("faults", "");
  run.seed = map.whole("seed", 0, kMost, std::nullopt);
  run.hash = digits(diagnostics, map, "hash");
  run.avg_jct_s = map.number("avg_jct_s", 0, kLongest_s, std::nullopt);
  run.jobs = map.whole("jobs", 1, kMost, std::nullopt);
  run.unfinished = map.whole("unfinished", 0, run.jobs, 0);
  return run;
}

/// What is written for readers must say what the runs say.
void check_totals(Diagnostics& diagnostics, const YamlMap& map, const BoardEntry& entry) {
  const std::string hash = digits(diagnostics, map, "hash");
  if (is_run_id(hash) && hash != hash_of(entry))
    diagnostics.add(map.place("hash"), "hash: '" + hash + "' is not that of the runs, " +
                                           hash_of(entry) + "; an entry is not edited, but added");
  const double mean = map.number("mean_jct_s", 0, kLongest_s, std::nullopt);
  if (map.has("mean_jct_s") && std::abs(mean - mean_jct_of(entry)) > 1e-9 * mean_jct_of(entry))
    diagnostics.add(map.place("mean_jct_s"), "mean_jct_s is not the mean of the runs, " +
                                                 exactly(mean_jct_of(entry)) +
                                                 "; an entry is not edited, but added");
  std::vector<std::uint64_t> seeds;
  for (const YAML::Node& seed : map.list("seeds", true))
    seeds.push_back(parse_whole(scalar_text(seed)).value_or(~std::uint64_t{0}));
  if (!seeds.empty() && seeds != seeds_of(entry))
    diagnostics.add(map.place("seeds"), "seeds are not those of the runs");
}

BoardEntry read_entry(Diagnostics& diagnostics, const YAML::Node& node) {
  const YamlMap map(diagnostics, node, "an entry",
                    {"experiment", "name", "split", "label", "policy", "agents", "seeds", "program",
                     "added", "hash", "mean_jct_s", "runs"});
  BoardEntry entry;
  entry.experiment = map.name("experiment", std::nullopt);
  entry.name = map.name("name", std::nullopt);
  entry.split = map.name("split", "");
  entry.label = map.name("label", std::nullopt);
  entry.policy = map.name("policy", std::nullopt);
  entry.agents = map.whole("agents", 1, 4096, std::nullopt);
  entry.program = map.name("program", std::nullopt);
  entry.added = map.name("added", std::nullopt);
  for (const YAML::Node& run : map.list("runs", true))
    entry.runs.push_back(read_run(diagnostics, run));
  if (!diagnostics.any()) check_totals(diagnostics, map, entry);
  return entry;
}

using Place = std::tuple<std::string, std::string, double, std::string, std::uint64_t>;
std::vector<Place> places_of(const BoardEntry& entry) {
  std::vector<Place> places;
  for (const BoardRun& run : entry.runs)
    places.emplace_back(run.topology, run.workload, run.load, run.faults, run.seed);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

std::string hash_of(const BoardEntry& entry) {
  TraceHash hash;
  for (const BoardRun& run : entry.runs) {
    hash.add(run.id);
    hash.add(run.hash);
  }
  return hash_text(hash.value());
}

double mean_jct_of(const BoardEntry& entry) {
  double sum = 0;
  for (const BoardRun& run : entry.runs) sum += run.avg_jct_s;
  return entry.runs.empty() ? 0 : sum / static_cast<double>(entry.runs.size());
}

std::vector<std::uint64_t> seeds_of(const BoardEntry& entry) {
  std::vector<std::uint64_t> seeds;
  for (const BoardRun& run : entry.runs) seeds.push_back(run.seed);
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

bool same_runs(const BoardEntry& a, const BoardEntry& b) {
  return a.name == b.name && a.split == b.split && places_of(a) == places_of(b);
}

Result<Leaderboard> parse_leaderboard(const std::string& text, const std::filesystem::path& file) {
  Diagnostics diagnostics(file.string());
  Leaderboard board;
  try {
    if (documents_in(text) != 1) {
      diagnostics.add({}, "is no leaderboard; 'starling leaderboard add' makes one");
      return diagnostics.error();
    }
    const YAML::Node root = YAML::Load(text);
    const YamlMap map(diagnostics, root, "the leaderboard", {"leaderboard", "entries"});
    if (root.IsMap() && !map.has("leaderboard"))
      diagnostics.add({}, "has no key 'leaderboard'; write leaderboard: 1, the form of the file");
    else
      static_cast<void>(map.whole("leaderboard", kFormat, kFormat, std::nullopt));
    if (!diagnostics.any()) {
      for (const YAML::Node& node : map.list("entries", true))
        board.entries.push_back(read_entry(diagnostics, node));
    }
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    diagnostics.add(known ? SourcePlace{error.mark.line + 1, error.mark.column + 1} : SourcePlace{},
                    "this is not YAML: " + error.msg);
  }
  if (diagnostics.any()) return diagnostics.error();
  return board;
}

Result<Leaderboard> read_leaderboard(const std::filesystem::path& file) {
  const auto text = read_text(file);
  if (!text) return text.error();
  return parse_leaderboard(text.value(), file);
}

Result<std::string> with_entries(const std::string& text, const std::filesystem::path& file,
                                 const std::vector<BoardEntry>& entries) {
  std::string whole = text;
  std::size_t before = 0;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    whole =
        "# Results that 'starling leaderboard check' runs again. Entries are added, and not "
        "edited.\nleaderboard: " +
        std::to_string(kFormat) + "\nentries:\n";
  } else {
    const auto there = parse_leaderboard(text, file);
    if (!there) return there.error();
    before = there.value().entries.size();
    if (whole.back() != '\n') whole += '\n';
  }
  for (const BoardEntry& entry : entries) whole += text_of(entry);
  const auto read = parse_leaderboard(whole, file);
  if (!read || read.value().entries.size() != before + entries.size())
    return {Errc::invalid, file.string() +
                               ": nothing can be added to it; its entries must be a list at the "
                               "end, each begun by two spaces and '- '"};
  return whole;
}

}  // namespace starling
