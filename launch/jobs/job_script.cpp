// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_script.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "launch/jobs/sbatch_options.h"
#include "launch/system/text.h"

namespace starling {
namespace {

/// As a shell would, with quotes and an end at '#'. Nothing: a quote is not closed.
std::optional<std::vector<std::string>> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c, in_word = true;
    } else if (c == ' ' || c == '\t') {
      if (in_word) words.push_back(word);
      word.clear(), in_word = false;
    } else if (c == '#' && !in_word) {
      break;
    } else {
      if (c == '\\' && i + 1 < line.size()) ++i;
      word += line[i], in_word = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (in_word) words.push_back(word);
  return words;
}

std::optional<std::string> after(const std::string& line, const std::string& mark) {
  if (line.rfind(mark, 0) != 0) return std::nullopt;
  if (line.size() > mark.size() && line[mark.size()] != ' ' && line[mark.size()] != '\t')
    return std::nullopt;
  return line.substr(mark.size());
}

Status add_own(const std::vector<std::string>& words, JobScript& script) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    if (flag == "--wait") {
      script.wait = true;
      continue;
    }
    if (job_option(flag) == nullptr) {
      std::vector<std::string> names;
      std::string all;
      for (const JobOption& option : job_options()) {
        names.emplace_back(option.flag);
        all += (all.empty() ? "" : ", ") + names.back();
      }
      const auto meant = nearest(flag, names);
      return {Errc::invalid, "'" + flag.substr(0, 64) + "' is no option of a job; " +
                                 (meant ? "did you mean '" + *meant + "'?" : "there are " + all)};
    }
    if (job_option(flag)->value == nullptr) {
      if (equals != std::string::npos) return {Errc::invalid, "'" + flag + "' takes no value"};
      script.options[flag] = "yes";
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size())
      return {Errc::invalid, "'" + flag + "' needs a value"};
    script.options[flag] = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
  }
  return done();
}

bool is_shell(const std::vector<std::string>& interpreter) {
  std::string program = std::filesystem::path(interpreter.front()).filename().string();
  if (program == "env" && interpreter.size() == 2) program = interpreter[1];
  for (const char* shell : {"sh", "bash", "dash", "ksh", "zsh", "ash"}) {
    if (program == shell) return true;
  }
  return false;
}

}  // namespace

Result<JobScript> read_job_script(const std::string& name, const std::string& text) {
  std::size_t number = 0;
  const auto at = [&](const std::string& what) {
    return Error{Errc::invalid, name + ":" + std::to_string(number) + ": " + what};
  };
  JobScript script;
  SbatchOptions theirs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (!line.empty() && line.back() == '\r')
      return at("its lines end as on Windows, with a carriage return; remove those (dos2unix)");
    if (number == 1) {
      // As the kernel reads it: a path, and the rest is one word.
      const std::size_t first = line.find_first_not_of(" \t", 2);
      if (!is_script(line) || first == line.npos)
        return at("a script begins with '#!' and an interpreter, as #!/bin/sh");
      const std::size_t space = std::min(line.find_first_of(" \t", first), line.size());
      script.interpreter.push_back(line.substr(first, space - first));
      const std::size_t rest = line.find_first_not_of(" \t", space);
      if (rest != line.npos) {
        const std::size_t last = line.find_last_not_of(" \t");
        script.interpreter.push_back(line.substr(rest, last + 1 - rest));
      }
      continue;
    }
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == line.npos) continue;
    if (line[first] != '#') break;
    const auto own = after(line, "#STARLING"), slurm = after(line, "#SBATCH");
    if (!own && !slurm) continue;
    script.asks = true;
    const auto words = words_of(own ? *own : *slurm);
    if (!words) return at("a quote is not closed");
    const Status added = own ? add_own(*words, script) : add_sbatch(*words, theirs);
    if (!added.ok()) return at(added.error().message);
  }
  if (script.interpreter.empty())
    return Error{Errc::invalid,
                 name + ": it is empty; a script begins with '#!' and an interpreter"};
  script.slurm = theirs;
  auto meaning = meaning_of(std::move(theirs));
  if (!meaning) return Error{Errc::invalid, name + ": #SBATCH " + meaning.error().message};
  script.wait = script.wait || meaning.value().wait;
  script.options.insert(meaning.value().options.begin(), meaning.value().options.end());
  for (const std::string& option : meaning.value().ignored) {
    const bool output = option == "--output" || option == "--error";
    script.warnings.push_back(name + ": #SBATCH " + option + " has no meaning here and is ignored" +
                              (output ? "; 'starling logs' shows what a job prints" : ""));
  }
  script.shell = is_shell(script.interpreter);
  return script;
}

}  // namespace starling
