// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/merge_parts.h"

#include <map>
#include <optional>
#include <string>

#include "launch/experiment/grid_part.h"
#include "launch/experiment/run_record.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string program_text(const std::string& program) {
  return program.empty() ? "an earlier program" : "program " + program;
}

/// The manifest that all parts have.
Result<Manifest> common_manifest(const std::vector<fs::path>& parts) {
  std::optional<Manifest> first;
  for (const fs::path& part : parts) {
    auto manifest = read_manifest(part / "experiment.json");
    if (!manifest)
      return {Errc::invalid,
              manifest.error().message + "; give folders that 'starling experiment --part' wrote"};
    if (!first) {
      first = std::move(manifest).value();
      continue;
    }
    if (manifest.value().program != first->program)
      return {Errc::invalid, part.string() + " was run by " +
                                 program_text(manifest.value().program) + ", and " +
                                 parts.front().string() + " by " + program_text(first->program) +
                                 "; run one of them anew with the other's program"};
    if (text_of(manifest.value()) != text_of(*first))
      return {Errc::invalid,
              part.string() + " is of another experiment than " + parts.front().string() + " ('" +
                  manifest.value().name + "' with " + std::to_string(manifest.value().runs.size()) +
                  " runs, and '" + first->name + "' with " + std::to_string(first->runs.size()) +
                  "); merge parts of one file with equal --set and --split"};
  }
  return *first;
}

struct Found {
  std::map<std::string, fs::path> of;  ///< by run: the folder that has it
  std::vector<const RunPoint*> missing;
};

Result<Found> find_runs(const std::vector<fs::path>& parts, const Manifest& manifest) {
  Found found;
  for (const RunPoint& point : manifest.runs) {
    for (const fs::path& part : parts) {
      const fs::path file = part / "runs" / (point.id + ".json");
      std::error_code ignored;
      if (!fs::exists(file, ignored)) continue;
      const auto record = read_record(file, point);
      if (!record)
        return {Errc::invalid, record.error().message + "; delete it, and run that part again"};
      if (record.value().program != manifest.program)
        return {Errc::invalid, file.string() + " is of " + program_text(record.value().program) +
                                   ", and its experiment of " + program_text(manifest.program) +
                                   "; delete it, and run that part again"};
      const auto [at, fresh] = found.of.emplace(point.id, part);
      if (!fresh)
        return {Errc::invalid, "run " + point.id + " (" + in_words(point) + ") is in " +
                                   at->second.string() + " and in " + part.string() +
                                   "; give each part once"};
    }
    if (!found.of.contains(point.id)) found.missing.push_back(&point);
  }
  return found;
}

Error missing_runs(const Found& found, const Manifest& manifest) {
  std::string text = std::to_string(found.missing.size()) + " of " +
                     std::to_string(manifest.runs.size()) + " runs are in none of the folders:";
  for (std::size_t i = 0; i < found.missing.size() && i < 3; ++i)
    text += std::string(i == 0 ? " " : "; ") + found.missing[i]->id + " (" +
            in_words(*found.missing[i]) + ")";
  if (found.missing.size() > 3) text += "; ...";
  return {Errc::invalid,
          text + ". Run the parts that have them to their end, or give --incomplete"};
}

Status copy_over(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error)
    return {Errc::io,
            "cannot copy " + from.string() + " to " + to.string() + ": " + error.message()};
  return done();
}

Status copy_all(const std::vector<fs::path>& parts, const Found& found, const fs::path& out) {
  std::error_code error;
  bool jobs = false;
  for (const fs::path& part : parts) jobs = jobs || fs::exists(part / "jobs", error);
  fs::create_directories(out / "runs", error);
  if (!error && jobs) fs::create_directories(out / "jobs", error);
  if (error) return {Errc::io, out.string() + ": " + error.message()};
  for (const auto& [id, part] : found.of) {
    const fs::path rows = fs::path("jobs") / (id + ".csv"),
                   record = fs::path("runs") / (id + ".json");
    if (fs::exists(part / rows, error)) {
      if (Status copied = copy_over(part / rows, out / rows); !copied) return copied;
    }
    if (Status copied = copy_over(part / record, out / record); !copied) return copied;
  }
  return done();
}

}  // namespace

Result<MergeOutcome> merge_parts(const std::vector<fs::path>& parts, const MergeOptions& options) {
  const auto manifest = common_manifest(parts);
  if (!manifest) return manifest.error();
  const auto found = find_runs(parts, manifest.value());
  if (!found) return found.error();
  if (!options.incomplete && !found.value().missing.empty())
    return missing_runs(found.value(), manifest.value());
  std::error_code error;
  if (fs::exists(options.out / "experiment.json", error) || fs::exists(options.out / "runs", error))
    return {Errc::conflict, options.out.string() +
                                " has an experiment already, or what an interrupted merge has "
                                "left; give a new folder as --out"};
  const bool had_jobs = fs::exists(options.out / "jobs", error);
  if (Status copied = copy_all(parts, found.value(), options.out); !copied) {
    fs::remove_all(options.out / "runs", error);  // was not there before
    if (!had_jobs) fs::remove_all(options.out / "jobs", error);
    return copied.error();
  }
  // Last: a folder with runs alone is no experiment's.
  if (Status made = write_manifest(options.out / "experiment.json", manifest.value()); !made)
    return made.error();
  return MergeOutcome{found.value().of.size(), found.value().missing.size()};
}

}  // namespace starling
