// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "sim/summary.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

void set_names(const RunPoint& point, Json& summary) {
  summary["policy"] = point.label;
  summary["family"] = std::string(1, static_cast<char>(point.family));
  // The keys of a run are fixed, so faults are told beside the cluster that has them.
  summary["topology"] =
      point.topology + (point.faults.empty() ? "" : " (faults " + point.faults + ")");
  summary["workload"] = point.workload;
  summary["load"] = point.load > 0 ? Json(point.load) : Json();
}

/// Runs `read`, with nlohmann's complaints about wrong types turned into an error.
template <class Read>
auto guarded(const std::filesystem::path& file, const Read& read) -> decltype(read(Json())) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  try {
    return read(Json::parse(text.value()));
  } catch (const Json::exception& error) {
    return {Errc::invalid, file.string() + ": " + error.what()};
  }
}

Powers read_powers(const Json& json) {
  Powers powers;
  for (const auto& word : json.get<std::vector<std::string>>()) {
    if (const auto power = read_power(word)) powers.add(*power);
  }
  return powers;
}

double number_or(const Json& json, const char* key, double fallback) {
  const Json& value = json.at(key);
  return value.is_null() ? fallback : value.get<double>();
}

}  // namespace

std::filesystem::path fresh_name(const std::filesystem::path& file) {
  // Other processes, on other hosts too, may write the same file; in containers hosts and processes
  // may have equal names and numbers.
  static std::atomic<std::uint32_t> count{0};
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  return file.string() + ".new." + host + "." + std::to_string(::getpid()) + "." +
         std::to_string(++count) + "." + std::to_string(std::random_device()());
}

Status write_whole(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path fresh = fresh_name(file);
  std::error_code error;
  if (Status written = write_text_file(fresh, text); !written) {
    std::filesystem::remove(fresh, error);
    return written;
  }
  std::filesystem::rename(fresh, file, error);
  if (!error) return done();
  const Error failed{Errc::io, file.string() + ": " + error.message()};
  std::filesystem::remove(fresh, error);
  return failed;
}

Result<bool> write_first(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path fresh = fresh_name(file);
  std::error_code ignored;
  if (Status written = write_text_file(fresh, text); !written) {
    std::filesystem::remove(fresh, ignored);
    return written.error();
  }
  // A link to a whole file: it is there with its text or not at all.
  const int linked = ::link(fresh.c_str(), file.c_str());
  const int why = errno;
  // NFS may say that it is there already of a link that it has just made, when an answer was lost.
  struct stat seen {};
  const bool ours = linked == 0 || (::stat(fresh.c_str(), &seen) == 0 && seen.st_nlink == 2);
  std::filesystem::remove(fresh, ignored);
  if (ours || why == EEXIST) return ours;
  return {Errc::io, "cannot write " + file.string() + ": " + std::strerror(why)};
}

Status write_record(const std::filesystem::path& file, const RunPoint& point,
                    const std::string& program, RunResult run, const RunCurves& curves) {
  Json whole;
  whole["schema"] = kSchema;
  whole["id"] = point.id;
  whole["program"] = program;
  whole["summary"] = Json::parse(summary_json(std::span(&run, 1))).at("runs").at(0);
  set_names(point, whole["summary"]);
  whole["curves"] = Json::parse(curves_json(curves));
  return write_whole(file, whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<RunRecord> read_record(const std::filesystem::path& file, const RunPoint& point) {
  return guarded(file, [&](const Json& whole) -> Result<RunRecord> {
    if (whole.at("schema") != kSchema || whole.at("id") != point.id)
      return {Errc::invalid, file.string() + ": is not the record of run " + point.id};
    RunRecord record;
    Json summary = whole.at("summary");
    set_names(point, summary);
    RunFact& fact = record.fact;
    fact.point = point;
    fact.submitted = summary.at("jobs_submitted").get<std::uint64_t>();
    fact.finished = summary.at("jobs_finished").get<std::uint64_t>();
    fact.dropped = summary.value("rows_dropped", std::uint64_t{0});  // of an earlier program: none
    fact.duplicates = summary.value("duplicate_names", std::uint64_t{0});
    fact.avg_jct_s = number_or(summary, "avg_jct_s", 0);
    fact.p99_jct_s = number_or(summary, "p99_jct_s", 0);
    fact.floor_jct_s = number_or(summary, "floor_jct_s", 0);
    fact.utilization = number_or(summary, "gpu_utilization", 0);
    record.program = whole.value("program", "");
    record.summary = summary.dump();
    record.curves = whole.at("curves").dump();
    return record;
  });
}

bool is_run_id(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string text_of(const Manifest& manifest) {
  Json runs = Json::array();
  for (const RunPoint& point : manifest.runs) {
    runs.push_back({{"id", point.id},
                    {"policy", point.policy},
                    {"label", point.label},
                    {"family", std::string(1, static_cast<char>(point.family))},
                    {"may", words(point.may)},
                    {"knows", point.knows},
                    {"topology", point.topology},
                    {"workload", point.workload},
                    {"split", point.split},
                    {"load", point.load},
                    {"faults", point.faults},
                    {"agents", point.agents},
                    {"seed", point.seed},
                    {"bound_jct_s", point.bound_jct_s > 0 ? Json(point.bound_jct_s) : Json()}});
  }
  const Json whole{{"schema", kSchema},
                   {"name", manifest.name},
                   {"description", manifest.description},
                   {"split", manifest.split},
                   {"baseline", manifest.baseline},
                   {"compare", manifest.together ? "together" : "families"},
                   {"physics", manifest.physics},
                   {"program", manifest.program},
                   {"notes", manifest.notes},
                   {"runs", runs}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_manifest(const std::filesystem::path& file, const Manifest& manifest) {
  return write_whole(file, text_of(manifest));
}

Result<Manifest> read_manifest(const std::filesystem::path& file) {
  return guarded(file, [&](const Json& whole) -> Result<Manifest> {
    if (whole.at("schema") != kSchema)
      return {Errc::invalid, file.string() + ": has another schema than this program knows"};
    Manifest manifest;
    whole.at("name").get_to(manifest.name);
    whole.at("description").get_to(manifest.description);
    whole.at("split").get_to(manifest.split);
    whole.at("baseline").get_to(manifest.baseline);
    whole.at("physics").get_to(manifest.physics);
    manifest.program = whole.value("program", "");
    manifest.notes = whole.value("notes", manifest.notes);
    manifest.together = whole.value("compare", "families") == "together";
    for (const Json& run : whole.at("runs")) {
      RunPoint& point = manifest.runs.emplace_back();
      run.at("id").get_to(point.id);
      run.at("policy").get_to(point.policy);
      run.at("label").get_to(point.label);
      run.at("topology").get_to(point.topology);
      run.at("workload").get_to(point.workload);
      run.at("split").get_to(point.split);
      run.at("load").get_to(point.load);
      point.faults = run.value("faults", "");
      run.at("agents").get_to(point.agents);
      run.at("seed").get_to(point.seed);
      const Json bound = run.value("bound_jct_s", Json());
      if (!bound.is_null()) bound.get_to(point.bound_jct_s);
      const auto family = run.at("family").get<std::string>();
      const bool known = family == "A" || family == "B" || family == "C";
      if (!known || !is_run_id(point.id))
        return {Errc::invalid, file.string() + ": run '" + point.id + "' is damaged"};
      point.family = static_cast<Family>(family.front());
      if (run.contains("may")) point.may = read_powers(run.at("may"));
      point.knows = run.value("knows", "");
    }
    return manifest;
  });
}

}  // namespace starling
