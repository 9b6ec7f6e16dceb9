// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_options.h"

#include <cstdio>

#include "base/visible.h"
#include "launch/jobs/split.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;

const SlurmOption* by_letter(std::span<const SlurmOption> known, char letter) {
  for (const SlurmOption& option : known) {
    if (option.letter == letter) return &option;
  }
  return nullptr;
}
const SlurmOption* by_name(std::span<const SlurmOption> known, const std::string& name) {
  for (const SlurmOption& option : known) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

Error unknown(const char* command, const std::string& option, std::span<const SlurmOption> known) {
  std::string all;
  for (const SlurmOption& one : known) all += (all.empty() ? "--" : ", --") + std::string(one.name);
  return {Errc::invalid, "'" + option.substr(0, 64) + "' is not understood here; " + command +
                             " knows " + (all.empty() ? "no options" : all)};
}

}  // namespace

Words SlurmSaid::list(const std::string& name) const {
  Words all;
  const auto at = options.find(name);
  if (at == options.end()) return all;
  for (const std::string& text : at->second) {
    for (std::string& one : split(text, ',')) all.push_back(std::move(one));
  }
  return all;
}

Result<SlurmSaid> read_slurm_words(const char* command, std::span<const SlurmOption> known,
                                   const Words& words, bool stops) {
  SlurmSaid said;
  const auto needs = [&](const std::string& option) {
    return Error{Errc::invalid, "option '" + option + "' requires an argument"};
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      said.words.insert(said.words.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        words.end());
      break;
    }
    if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const std::string name =
          word.substr(2, equals == std::string::npos ? std::string::npos : equals - 2);
      const SlurmOption* option = by_name(known, name);
      if (option == nullptr) return unknown(command, "--" + name, known);
      std::string value;
      if (equals != std::string::npos) {
        if (option->takes == Takes::nothing)
          return Error{Errc::invalid, "option '--" + name + "' takes no argument"};
        value = word.substr(equals + 1);
      } else if (option->takes == Takes::value) {
        if (++i == words.size()) return needs("--" + name);
        value = words[i];
      }
      said.options[name].push_back(std::move(value));
    } else if (word.size() > 1 && word[0] == '-') {
      for (std::size_t at = 1; at < word.size(); ++at) {
        const SlurmOption* option = by_letter(known, word[at]);
        if (option == nullptr) return unknown(command, std::string("-") + word[at], known);
        std::string value;
        if (option->takes != Takes::nothing) {
          value = word.substr(at + 1);
          if (value.starts_with('=')) value.erase(0, 1);
          if (value.empty() && option->takes == Takes::value) {
            if (++i == words.size()) return needs(std::string("-") + option->letter);
            value = words[i];
          }
          at = word.size();
        }
        said.options[option->name].push_back(std::move(value));
      }
    } else if (stops) {
      said.words.insert(said.words.end(), words.begin() + static_cast<std::ptrdiff_t>(i),
                        words.end());
      break;
    } else {
      said.words.push_back(word);
    }
  }
  return said;
}

int slurm_error(const char* command, const std::string& what) {
  std::fprintf(stderr, "%s: error: %s\n", command, visible_line(what).c_str());
  return 1;
}

}  // namespace starling
