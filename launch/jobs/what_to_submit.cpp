// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/what_to_submit.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "launch/jobs/job_script.h"
#include "launch/jobs/split.h"
#include "workload/catalogue.h"
#include "workload/check_job.h"
#include "workload/job_file.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostScript = 1U << 20U;

Error invalid(const std::string& what) { return {Errc::invalid, "submit: " + what}; }

bool is_job_file(const std::string& word) {
  const std::string extension = fs::path(word).extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}
/// A path, or with an ending: a mistyped name of a file, rather than of a program.
bool names_a_file(const std::string& word) {
  return word.find('/') != std::string::npos || !fs::path(word).extension().empty();
}

bool is_plain_file(const std::string& word) {
  std::error_code ignored;
  return fs::is_regular_file(word, ignored);
}

std::string beginning_of(const std::string& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

/// Where the job finds what a word names: a relative path is below the folder that it runs in.
std::string place_of(const SubmitWords& said, const std::string& word) {
  const auto folder = said.options.find("--directory");
  if (folder == said.options.end() || word.find('/') == std::string::npos) return word;
  return fs::absolute(fs::path(folder->second) / word).lexically_normal().string();
}

/// A place, or somewhere in the submitter's PATH.
bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos)
    return is_plain_file(word) && ::access(word.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + word;
    if (is_plain_file(file) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Nothing may stand beside a job file that only a command takes: it would have no effect.
Status check_alone(const SubmitWords& said, const std::string& file) {
  if (said.words.size() > 1) {
    return invalid("'" + said.words[1] + "' is not expected after the job file " + file +
                   "; give one file, which may hold many jobs, and no '--'");
  }
  for (const auto& [flag, text] : said.options) {
    if (flag == "--directory" || flag == "--environment") continue;
    return invalid(flag + " is of a command; " + file + " says that itself: write '" +
                   job_option(flag)->key + ":' there");
  }
  return done();
}

Result<WhatToSubmit> file_jobs(const SubmitWords& said, const std::string& name,
                               Result<std::vector<JobSpec>> read) {
  if (Status alone = check_alone(said, name); !alone) return alone.error();
  if (!read) return read.error();
  WhatToSubmit what;
  what.options = said.options;
  what.jobs = std::move(read).value();
  return what;
}

/// A word behind the first one, before any "--", that is an option of submit's; empty: none is.
/// With one dash only where `short_ones`: programs have many such of their own.
std::string option_behind(const SubmitWords& said, bool short_ones) {
  for (std::size_t i = 1; i < said.words.size() && said.words[i] != "--"; ++i) {
    const std::string flag = said.words[i].substr(0, said.words[i].find('='));
    if (!flag.starts_with(short_ones ? "-" : "--")) continue;
    if (std::find(said.flags.begin(), said.flags.end(), flag) != said.flags.end())
      return said.words[i];
  }
  return {};
}

/// `file`: empty on standard input.
Result<WhatToSubmit> script_job(const SubmitWords& said, const std::string& file,
                                const std::string& text) {
  auto read = read_job_script(file.empty() ? "standard input" : file, text);
  if (!read) return read.error();
  JobScript& script = read.value();
  WhatToSubmit what;
  what.wait = script.wait;
  what.warnings = script.warnings;
  JobSpec spec;
  spec.name = file.empty() ? "script" : fs::path(file).filename().string();
  spec.command = script.interpreter;
  if (script.shell) {
    // It goes with the job, so a later change of the file changes nothing, and no host needs it.
    spec.command.insert(spec.command.end(), {"-c", text, file.empty() ? "script" : file});
  } else if (file.empty()) {
    return invalid("a script on standard input has to be a shell's; this one is of " +
                   script.interpreter.back() + ": give its file");
  } else {
    spec.command.push_back(fs::absolute(file).lexically_normal().string());
  }
  spec.command.insert(spec.command.end(), said.words.begin() + 1, said.words.end());
  JobOptions options = said.options;
  options.insert(script.options.begin(), script.options.end());
  if (Status set = set_options(options, spec); !set.ok()) return invalid(set.error().message);
  what.options = std::move(options);
  what.jobs.push_back(std::move(spec));
  return what;
}

/// What a word that is meant as no command looks like; nothing: it is one.
std::optional<Error> is_no_command(const SubmitWords& said) {
  if (said.dashes) return std::nullopt;
  const std::string& word = said.words.front();
  const std::string first = place_of(said, word);
  std::error_code ignored;
  if (fs::is_directory(first, ignored) && !is_program(first)) {
    return invalid("'" + first +
                   "' is a folder; give a job file or a script in it, or a command after '--'");
  }
  if (fs::exists(first, ignored) && !is_program(first)) {
    return invalid(
        "'" + first +
        "' is a file, and neither a job file (.yaml, .yml, .json), a script "
        "(its first line begins with '#!') nor a program; to have its jobs read, call it " +
        first + ".yaml, and to run it, write '-- PROGRAM " + first + "'");
  }
  if (said.words.size() == 1 && !is_program(first) && word.find(' ') != std::string::npos) {
    return invalid("'" + word +
                   "' is one word, and there is no file or program of that name; write a command's "
                   "words without quotes around all of them, as -- " +
                   word + ", or -- sh -c '" + word + "' for what a shell is to read");
  }
  if (!is_program(first) && names_a_file(first)) {
    return invalid("there is no file or program '" + first +
                   "' here; give a script, a job file or a program that is there, or write '-- " +
                   word + "' for a program that is on the servers only");
  }
  const std::string misplaced = option_behind(said, false);
  if (misplaced.empty()) return std::nullopt;
  return invalid("'" + misplaced + "' stands behind the command '" + word +
                 "' and would be its own; write it before the command if it is for submit, or '--' "
                 "before the command if it is not");
}

Result<WhatToSubmit> command_job(const SubmitWords& said) {
  WhatToSubmit what;
  what.options = said.options;
  JobSpec spec;
  spec.command = said.words;
  spec.name = fs::path(said.words.front()).filename().string();
  if (Status set = set_options(said.options, spec); !set.ok()) return invalid(set.error().message);
  what.jobs.push_back(std::move(spec));
  return what;
}

/// One without a command, which a flock with emulated GPUs pretends to run.
Result<WhatToSubmit> emulated_job(const SubmitWords& said) {
  WhatToSubmit what;
  what.options = said.options;
  JobSpec spec;
  if (Status set = set_options(said.options, spec); !set.ok()) return invalid(set.error().message);
  if (!spec.model.empty() && !known_model(spec.model))
    return invalid("--model: '" + spec.model.substr(0, 64) +
                   "' cannot be emulated: it is not in the catalogue");
  if (Status right = check_job(spec, Limits{}); !right.ok()) return invalid(right.error().message);
  what.jobs.push_back(std::move(spec));
  return what;
}

/// A file that begins with "#!".
Result<WhatToSubmit> of_script(const SubmitWords& said, const std::string& file) {
  SubmitWords own = said;
  if (!said.dashes) {
    if (const std::string option = option_behind(said, true); !option.empty()) {
      return invalid(
          "'" + option + "' stands behind the script '" + file +
          "' and would be its own; write it before the script if it is for submit, or '" + file +
          " -- ...' if it is not");
    }
    if (own.words.size() > 1 && own.words[1] == "--") own.words.erase(own.words.begin() + 1);
  }
  const std::string text = beginning_of(file, kMostScript + 1);
  if (text.size() > kMostScript) return invalid(file + " has more than 1 MiB");
  const auto script = read_job_script(file, text);
  if (!script) return script.error();
  // One that asks for nothing and can be run is a command as any other.
  return script.value().asks || !is_program(place_of(said, said.words.front()))
             ? script_job(own, file, text)
             : command_job(own);
}

Result<WhatToSubmit> of_words(const SubmitWords& said) {
  const std::string& first = said.words.front();
  if (first == "-") {
    auto text = said.input();
    if (!text) return text.error();
    if (is_script(text.value())) return script_job(said, "", text.value());
    return file_jobs(said, "standard input", parse_job_file("standard input", text.value()));
  }
  if (is_job_file(first)) {
    auto read = file_jobs(said, first, read_job_file(first));
    if (read || is_plain_file(first)) return read;
    if (said.words.size() > 1) return read;
    return Error{Errc::invalid,
                 read.error().message + "; give a job file (docs/cli.md), or a command after '--'"};
  }
  // Here, as a job file is, or where the job runs, as a command is.
  for (const std::string& file : {first, place_of(said, first)}) {
    if (is_plain_file(file) && is_script(beginning_of(file, 2))) return of_script(said, file);
  }
  if (auto no = is_no_command(said)) return *no;
  return command_job(said);
}

}  // namespace

Result<WhatToSubmit> what_to_submit(const SubmitWords& said, const Submitter& from) {
  const bool emulated = said.words.empty() && said.options.contains("--duration");
  if (said.words.empty() && !emulated)
    return invalid(
        "give a job file (.yaml), a script, '-' for standard input, or a command after "
        "'--'");
  auto what = emulated ? emulated_job(said) : of_words(said);
  if (!what) return what;
  const auto option = [&](const char* flag) {
    const auto at = what.value().options.find(flag);
    return at == what.value().options.end() ? std::string() : at->second;
  };
  for (JobSpec& job : what.value().jobs) {
    if (job.command.empty()) continue;  // emulated: it is nowhere
    if (job.command.front().empty()) return invalid("the command's program has no name");
    if (Status taken = take_over(from, option("--directory"), option("--environment"), job); !taken)
      return invalid(taken.error().message);
    if (Status right = check_job(job, Limits{}); !right.ok()) return invalid(right.error().message);
  }
  return what;
}

}  // namespace starling
