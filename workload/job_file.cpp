// SPDX-License-Identifier: Apache-2.0
#include "workload/job_file.h"

#include <algorithm>
#include <optional>
#include <set>

#include "workload/catalogue.h"
#include "workload/check_job.h"
#include "workload/directory.h"
#include "workload/terms_text.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"
#include "workload/yaml_documents.h"
#include "workload/yaml_values.h"

namespace starling {
namespace {

constexpr std::size_t kFileBytes = std::size_t{16} << 20U;
constexpr std::string_view kKeys[] = {
    "name",       "user",       "queue",           "model",         "command",
    "duration_s", "workers",    "gpus_per_worker", "min_workers",   "max_workers",
    "cpus",       "memory_gib", "gpu_types",       "priority",      "environment",
    "directory",  "requeue",    "max_servers",     "server_cpus",   "batch",
    "max_batch",  "copies",     "save_s",          "restore_s",     "hold",
    "begin",      "after",      "retries",         "retry_after_s", "time_limit",
    "signal",     "array"};

double amount_of(const YAML::Node& node, const std::string& key) {
  double number = 0;
  if (!node.IsScalar() || !parse_number(node.Scalar(), number) || number < 0) {
    throw YamlMistake{node.Mark(), key + " is " + yaml_shown(node) + "; write a number from 0"};
  }
  return number;
}

bool yes_of(const YAML::Node& node, const std::string& key) {
  bool yes = false;
  if (!node.IsScalar() || !YAML::convert<bool>::decode(node, yes))
    throw YamlMistake{node.Mark(), key + " is " + yaml_shown(node) + "; write yes or no"};
  return yes;
}

std::vector<std::string> environment_of(const YAML::Node& node) {
  if (!node.IsMap()) {
    throw YamlMistake{node.Mark(),
                      "environment is " + yaml_shown(node) + "; write a mapping, as {NAME: value}"};
  }
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = yaml_text(entry.first, "a name in environment");
    if (name.empty() || name.find('=') != std::string::npos) {
      throw YamlMistake{entry.first.Mark(), "environment has the name '" + name.substr(0, 64) +
                                                "'; write one without '='"};
    }
    if (!seen.insert(name).second)
      throw YamlMistake{entry.first.Mark(), "environment names '" + name + "' twice"};
    out.push_back(name + '=' +
                  (entry.second.IsNull() ? "" : yaml_text(entry.second, "environment's " + name)));
  }
  return out;
}

Duration seconds_of(const YAML::Node& node, const std::string& key) {
  Duration time{0};
  if (!node.IsScalar() || !parse_seconds(node.Scalar(), time))
    throw YamlMistake{node.Mark(),
                      key + " is " + yaml_shown(node) + "; write seconds from 0, as 30 or 0.5"};
  return time;
}

void read_run_key(const std::string& key, const YAML::Node& node, RunDetails& run) {
  const auto count = [&] {
    return static_cast<std::uint32_t>(yaml_whole(node, key, 0, RunDetails::kMost));
  };
  if (key == "max_servers") run.max_servers = count();
  if (key == "server_cpus") run.server_cpus = amount_of(node, key);
  if (key == "batch") run.batch = count();
  if (key == "max_batch") run.max_batch = count();
  if (key == "copies") run.copies = yes_of(node, key);
  if (key == "save_s") run.save = seconds_of(node, key);
  if (key == "restore_s") run.restore = seconds_of(node, key);
}

/// What a text means by `parse`.
template <class Parse>
auto meaning_of(const YAML::Node& node, const std::string& key, Parse parse) {
  auto said = parse(yaml_text(node, key));
  if (!said) throw YamlMistake{node.Mark(), key + ": " + said.error().message};
  return std::move(said).value();
}

Duration time_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
}

/// A job file names other jobs by their ids.
std::vector<After> after_of(const YAML::Node& node, const std::string& key) {
  std::vector<After> all;
  for (const AfterText& after : meaning_of(node, key, parse_after)) {
    const auto id = parse_job_id(after.job);
    if (!id) throw YamlMistake{node.Mark(), key + ": " + id.error().message};
    all.push_back({after.how, id.value()});
  }
  return all;
}

void read_terms_key(const std::string& key, const YAML::Node& node, JobSpec& spec) {
  JobTerms& terms = spec.terms;
  if (key == "hold") terms.hold = yes_of(node, key);
  if (key == "begin")
    terms.begin =
        meaning_of(node, key, [](const auto& text) { return parse_begin(text, time_now()); });
  if (key == "after") terms.after = after_of(node, key);
  if (key == "retries")
    terms.retries = static_cast<std::uint32_t>(yaml_whole(node, key, 0, JobTerms::kMostRetries));
  if (key == "retry_after_s") terms.retry_after = seconds_of(node, key);
  if (key == "time_limit") terms.time_limit = meaning_of(node, key, parse_time);
  if (key == "signal") {
    const SignalText said = meaning_of(node, key, parse_signal);
    terms.signal = said.number, terms.signal_before = said.before;
  }
  if (key == "array") {
    ArrayText said = meaning_of(node, key, parse_array);
    spec.array_tasks = std::move(said.tasks);
    terms.at_once = said.at_once;
  }
}

void read_key(const std::string& key, const YAML::Node& node, JobSpec& spec) {
  constexpr std::int64_t most = 1 << 20;
  const auto count = [&](std::int64_t low) {
    return static_cast<std::uint32_t>(yaml_whole(node, key, low, most));
  };
  if (key == "name") spec.name = yaml_text(node, key);
  if (key == "user") spec.user = yaml_text(node, key);
  if (key == "queue") spec.queue = yaml_text(node, key);
  if (key == "model") spec.model = yaml_text(node, key);
  if (key == "workers") spec.workers = count(1);
  if (key == "gpus_per_worker") spec.gpus_per_worker = count(1);
  if (key == "min_workers") spec.min_workers = count(0);
  if (key == "max_workers") spec.max_workers = count(0);
  if (key == "cpus") spec.cpus_per_worker = amount_of(node, key);
  if (key == "memory_gib") spec.memory_gib_per_worker = amount_of(node, key);
  if (key == "priority")
    spec.priority = static_cast<std::int32_t>(yaml_whole(node, key, -1'000'000, 1'000'000));
  if (key == "environment") {
    for (std::string& entry : environment_of(node)) spec.environment.push_back(std::move(entry));
  }
  if (key == "requeue") spec.no_requeue = !yes_of(node, key);
  if (key == "directory") set_directory(spec, yaml_text(node, key));
  if (key == "gpu_types") {
    spec.gpu_types =
        node.IsScalar() ? std::vector<std::string>{node.Scalar()} : yaml_texts(node, key);
  }
  if (key == "command") {
    if (node.IsScalar() && node.Scalar().find_first_not_of(" \t\r\n") == std::string::npos)
      throw YamlMistake{node.Mark(), "command is empty; write a shell line, or a list, as [a, b]"};
    spec.command = node.IsScalar() ? std::vector<std::string>{"/bin/sh", "-c", node.Scalar()}
                                   : yaml_texts(node, key);
  }
  if (key == "duration_s" && (!node.IsScalar() || !parse_seconds(node.Scalar(), spec.duration) ||
                              spec.duration == Duration::zero())) {
    throw YamlMistake{node.Mark(), "duration_s is " + yaml_shown(node) +
                                       "; write seconds above 0, as 600 or 0.5"};
  }
}

JobSpec read_job(const YAML::Node& node, const Limits& limits) {
  if (!node.IsMap()) {
    throw YamlMistake{node.Mark(), "a job is " + yaml_shown(node) +
                                       "; write a mapping, as {name: a, duration_s: 60}"};
  }
  JobSpec spec;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = yaml_text(entry.first, "a key");
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      throw YamlMistake{entry.first.Mark(), unknown_key(key, kKeys)};
    if (!seen.insert(key).second)
      throw YamlMistake{entry.first.Mark(), "key '" + key + "' is there twice"};
    read_key(key, entry.second, spec);
    read_run_key(key, entry.second, spec.run);
    read_terms_key(key, entry.second, spec);
  }
  if (spec.command.empty() && !seen.contains("duration_s")) {
    // A quote that is not closed takes the keys after it along, and YAML's reader says nothing.
    const bool open_quote = spec.name.find(": ") != std::string::npos;
    throw YamlMistake{node.Mark(),
                      "the job has nothing to do; give it a command, or a duration_s to emulate" +
                          (open_quote ? " (its name is '" + spec.name + "': is a quote not closed?)"
                                      : std::string())};
  }
  if (spec.command.empty() && !spec.model.empty() && !known_model(spec.model)) {
    std::vector<std::string_view> names;
    for (const ModelProfile& model : catalogue()) names.push_back(model.name);
    throw YamlMistake{node["model"].Mark(), "model '" + spec.model.substr(0, 64) +
                                                "' cannot be emulated: it is not in the catalogue" +
                                                did_you_mean(spec.model, names)};
  }
  if (const Status good = check_job(spec, limits); !good)
    throw YamlMistake{node.Mark(), good.error().message};
  return spec;
}

std::vector<JobSpec> read_jobs(const std::string& text, const Limits& limits) {
  if (const std::optional<YAML::Mark> second = second_document(text)) {
    throw YamlMistake{*second,
                      "a second document starts; a job file is one mapping or one list of them"};
  }
  const YAML::Node root = YAML::Load(text);
  if (!root.IsDefined() || root.IsNull()) {
    throw YamlMistake{YAML::Mark(),
                      "there is no job; write a mapping, as name: a, or a list of them"};
  }
  std::vector<JobSpec> jobs;
  if (root.IsSequence()) {
    if (root.size() > limits.jobs_waiting) {
      throw YamlMistake{root.Mark(), "there are " + std::to_string(root.size()) +
                                         " jobs; at most " + std::to_string(limits.jobs_waiting) +
                                         " are allowed"};
    }
    for (const YAML::Node& node : root) jobs.push_back(read_job(node, limits));
  } else {
    jobs.push_back(read_job(root, limits));
  }
  return jobs;
}

}  // namespace

Result<std::vector<JobSpec>> read_job_file(const std::filesystem::path& file,
                                           const Limits& limits) {
  const Result<std::string> text = read_text_file(file, kFileBytes);
  if (!text) return text.error();
  return parse_job_file(file.string(), text.value(), limits);
}

Result<std::vector<JobSpec>> parse_job_file(const std::string& name, const std::string& text,
                                            const Limits& limits) {
  try {
    return read_jobs(text, limits);
  } catch (const YamlMistake& mistake) {
    return yaml_error(name, mistake.mark, mistake.what);
  } catch (const YAML::Exception& error) {
    return yaml_error(name, error.mark, "this is not YAML: " + error.msg);
  }
}

}  // namespace starling
