// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/submitter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/limits.h"
#include "launch/jobs/split.h"
#include "launch/system/text.h"
#include "workload/directory.h"

namespace starling {
namespace {

std::string name_of(const std::string& entry) { return entry.substr(0, entry.find('=')); }

bool is_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '=';
  });
}

bool taken_over(const std::string& name) {
  if (name.rfind("STARLING_", 0) == 0) return name == "STARLING_FLOCK";
  return name != "_" && name != "OLDPWD" && name != "PWD";
}

Status too_much(const JobSpec& spec, std::size_t bytes) {
  std::vector<std::string> entries = spec.environment;
  std::sort(entries.begin(), entries.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::string largest;
  for (std::size_t i = 0; i < std::min<std::size_t>(entries.size(), 3); ++i) {
    largest +=
        (i == 0 ? "" : ", ") + name_of(entries[i]) + " (" + with_commas(entries[i].size()) + ")";
  }
  return {Errc::invalid, "command and environment have " + with_commas(bytes) +
                             " bytes, and a job may have " + with_commas(Limits{}.command_bytes) +
                             "; the largest are " + largest +
                             ": choose with --environment NAME,.. or --environment none"};
}

}  // namespace

Submitter Submitter::here() {
  Submitter from;
  std::error_code error;
  const std::filesystem::path physical = std::filesystem::current_path(error);
  if (!error) from.folder = physical.string();
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    from.environment.emplace_back(*entry);
    // As the shell calls it, where that is the same folder: links stay what they are.
    const std::string& last = from.environment.back();
    if (last.rfind("PWD=/", 0) != 0) continue;
    if (std::filesystem::equivalent(last.substr(4), physical, error) && !error)
      from.folder = last.substr(4);
  }
  return from;
}

Status take_over(const Submitter& from, const std::string& directory, const std::string& choice,
                 JobSpec& spec) {
  bool all = choice.empty(), none = false;
  std::set<std::string> names;
  std::vector<std::string> given;
  for (const std::string& item : choice.empty() ? std::vector<std::string>{} : split(choice, ',')) {
    if (item == "all" || item == "ALL") {
      all = true;
    } else if (item == "none" || item == "NONE" || item == "NIL") {
      none = true;
    } else if (item.find('=') != std::string::npos && is_name(name_of(item))) {
      given.push_back(item);
    } else if (is_name(item)) {
      names.insert(item);
    } else {
      return {Errc::invalid, "--environment: '" + item.substr(0, 64) +
                                 "' is wrong, give all, none, or NAME,.. and NAME=VALUE"};
    }
  }
  if (none && (all || !names.empty()))
    return {Errc::invalid, "--environment: none, and something of it, at once"};
  if (names.empty() && !none) all = true;  // NAME=VALUE alone adds to it

  std::map<std::string, std::string> entries;
  for (const std::string& entry : from.environment) {
    const std::string name = name_of(entry);
    if (name.size() == entry.size() || name.empty()) continue;
    const bool named = names.erase(name) > 0;
    if (named || (all && taken_over(name))) entries[name] = entry;
  }
  if (!names.empty())
    return {Errc::invalid, "--environment: " + *names.begin() +
                               " is not set here; give it a value, as " + *names.begin() +
                               "=VALUE, or leave it out"};
  for (const std::string& entry : given) entries[name_of(entry)] = entry;
  const std::string said = directory.empty() ? directory_of(spec) : directory;
  for (const std::string& entry : spec.environment) entries[name_of(entry)] = entry;
  entries.erase("PWD");
  spec.environment.clear();
  for (auto& [name, entry] : entries) spec.environment.push_back(std::move(entry));

  const std::filesystem::path below = said.empty() ? "." : said;
  if (below.is_relative() && from.folder.empty())
    return {Errc::invalid, "the present folder is gone; give a whole path with --directory"};
  std::string folder =
      below == "." ? from.folder
                   : (std::filesystem::path(from.folder) / below).lexically_normal().string();
  if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  set_directory(spec, folder);

  std::size_t bytes = 0;
  for (const std::string& word : spec.command) bytes += word.size() + 1;
  for (const std::string& entry : spec.environment) bytes += entry.size() + 1;
  return bytes > Limits{}.command_bytes ? too_much(spec, bytes) : done();
}

}  // namespace starling
