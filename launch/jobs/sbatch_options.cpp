// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/sbatch_options.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/lower_case.h"
#include "base/short_number.h"
#include "launch/jobs/split.h"
#include "launch/system/text.h"
#include "workload/terms_text.h"

namespace starling {
namespace {

constexpr std::pair<char, const char*> kShort[] = {
    {'J', "job-name"},    {'N', "nodes"},      {'n', "ntasks"},   {'c', "cpus-per-task"},
    {'G', "gpus"},        {'p', "partition"},  {'D', "chdir"},    {'o', "output"},
    {'e', "error"},       {'i', "input"},      {'t', "time"},     {'A', "account"},
    {'q', "qos"},         {'C', "constraint"}, {'W', "wait"},     {'H', "hold"},
    {'d', "dependency"},  {'a', "array"},      {'w', "nodelist"}, {'x', "exclude"},
    {'L', "licenses"},    {'M', "clusters"},   {'b', "begin"},    {'s', "oversubscribe"},
    {'k', "no-kill"},     {'Q', "quiet"},      {'v', "verbose"},  {'O', "overcommit"},
    {'m', "distribution"}};
constexpr std::string_view kFlags[] = {
    "wait",       "hold",      "oversubscribe", "no-kill",    "quiet",      "verbose",
    "overcommit", "requeue",   "parsable",      "no-requeue", "spread-job", "exclusive",
    "contiguous", "test-only", "use-min-nodes", "ignore-pbs", "reboot",     "get-user-env"};

bool is_flag(std::string_view name) {
  return std::find(std::begin(kFlags), std::end(kFlags), name) != std::end(kFlags);
}

Status wrong(const std::string& name, const std::string& text, const std::string& right) {
  return {Errc::invalid, "--" + name + ": '" + text.substr(0, 64) + "' is wrong, give " + right};
}

/// "4", "a100:4" and, of --gres, "gpu:a100:4".
struct Gpus {
  std::string type;
  std::uint64_t count = 0;
};
std::optional<Gpus> gpus_of(const std::string& name, std::string text) {
  if (name == "gres") {
    if (text.rfind("gpu", 0) != 0) return std::nullopt;
    text = text == "gpu" ? "1" : text.substr(std::min<std::size_t>(4, text.size()));
  }
  const auto parts = split(text, ':');
  const auto count = parts.empty() ? std::nullopt : parse_whole(parts.back());
  if (parts.size() > 2 || (!count && parts.size() != 1)) return std::nullopt;
  if (!count) return Gpus{parts.front(), 1};
  return Gpus{parts.size() == 2 ? parts.front() : "", *count};
}

/// In GiB; of sbatch's units, where none is said in MiB.
std::optional<double> gib_of(std::string text) {
  double scale = 1.0 / 1024;
  if (!text.empty()) {
    const char unit = static_cast<char>(text.back() & ~0x20);
    const std::string_view units = "KMGT";
    if (const auto at = units.find(unit); at != units.npos) {
      constexpr double kScales[] = {1.0 / 1024 / 1024, 1.0 / 1024, 1, 1024};
      scale = kScales[at];
      text.pop_back();
    }
  }
  const auto n = parse_decimal(text);
  return n && *n >= 0 ? std::optional(*n * scale) : std::nullopt;
}

class Meaning {
 public:
  explicit Meaning(SbatchOptions options) : said_(std::move(options)) {}

  Result<SbatchMeaning> find() {
    if (Status s = sizes(); !s.ok()) return s.error();
    for (const auto& [theirs, ours] : {std::pair{"job-name", "--name"},
                                       {"partition", "--queue"},
                                       {"chdir", "--directory"},
                                       {"export", "--environment"},
                                       {"priority", "--priority"}}) {
      if (const auto text = take(theirs)) m_.options[ours] = *text;
    }
    if (const auto nice = take("nice"); nice && !m_.options.contains("--priority")) {
      const std::string n = nice->empty() ? "100" : *nice;
      m_.options["--priority"] = n[0] == '-' ? n.substr(1) : "-" + n;
    }
    if (take("requeue")) m_.options["--requeue"] = "yes";
    if (take("no-requeue")) m_.options["--requeue"] = "no";
    if (Status s = terms(); !s.ok()) return s.error();
    m_.wait = take("wait").has_value();
    for (const char* harmless : {"parsable", "quiet", "verbose", "comment"}) (void)take(harmless);
    for (const auto& [name, text] : said_) m_.ignored.push_back("--" + name);
    return std::move(m_);
  }

 private:
  /// A number alone is minutes there.
  static std::string seconds_of(const std::string& text) {
    const auto minutes = parse_whole(text);
    return minutes ? std::to_string(*minutes * 60) : text;
  }
  Status terms() {
    if (take("hold")) m_.options["--hold"] = "yes";
    for (const auto& [theirs, ours] :
         {std::pair{"begin", "--begin"}, {"dependency", "--after"}, {"array", "--array"}}) {
      if (const auto text = take(theirs)) m_.options[ours] = *text;
    }
    if (const auto limit = take("time")) {
      const std::string word = lower_case(*limit);
      const bool none = word == "unlimited" || word == "infinite" || word == "0";
      if (!none && !parse_time(seconds_of(*limit)).ok())
        return wrong("time", *limit, "minutes, MM:SS, HH:MM:SS, D-HH or D-HH:MM:SS");
      if (!none) m_.options["--time-limit"] = seconds_of(*limit);
    }
    const auto signal = take("signal");
    if (signal && m_.options.contains("--time-limit")) m_.options["--signal"] = *signal;
    return done();
  }

  std::optional<std::string> take(const std::string& name) {
    const auto at = said_.find(name);
    if (at == said_.end()) return std::nullopt;
    std::string text = std::move(at->second);
    said_.erase(at);
    return text;
  }
  Status count(const std::string& name, std::uint64_t& target) {
    const auto text = take(name);
    if (!text) return done();
    const auto n = parse_whole(*text);
    if (!n || *n < 1 || *n > 8192) return wrong(name, *text, "a whole number from 1 to 8192");
    target = *n;
    return done();
  }

  Status sizes() {
    std::uint64_t nodes = 0, tasks = 0, per_node = 0, cpus = 0;
    for (auto& [name, target] : {std::pair<const char*, std::uint64_t&>{"nodes", nodes},
                                 {"ntasks", tasks},
                                 {"ntasks-per-node", per_node},
                                 {"cpus-per-task", cpus}}) {
      if (Status s = count(name, target); !s.ok()) return s;
    }
    const std::uint64_t workers =
        tasks > 0 ? tasks
                  : std::max<std::uint64_t>(nodes, 1) * std::max<std::uint64_t>(per_node, 1);
    if (per_node == 0) per_node = nodes > 0 ? (workers + nodes - 1) / nodes : workers;
    if (workers > 1) m_.options["--workers"] = std::to_string(workers);
    if (cpus > 0) m_.options["--cpus"] = std::to_string(cpus);
    std::uint64_t gpus = 1;
    for (const auto& [name, among] : {std::pair<const char*, std::uint64_t>{"gpus", workers},
                                      {"gres", per_node},
                                      {"gpus-per-node", per_node},
                                      {"gpus-per-task", 1}}) {
      const auto text = take(name);
      if (!text) continue;
      const auto asked = gpus_of(name, *text);
      if (!asked) return wrong(name, *text, "a number of GPUs, as 4 or a100:4");
      if (asked->count == 0) continue;
      if (asked->count % among != 0) {
        return {Errc::invalid, std::string("--") + name + ": " + std::to_string(asked->count) +
                                   " GPUs cannot be shared out evenly among " +
                                   std::to_string(among) + " tasks"};
      }
      gpus = asked->count / among;
      m_.options["--gpus"] = std::to_string(gpus);
      if (!asked->type.empty()) m_.options["--gpu-type"] = asked->type;
    }
    const std::uint64_t cores = std::max<std::uint64_t>(cpus, 1);
    for (const auto& [name, times] :
         {std::pair<const char*, double>{"mem", 1.0 / static_cast<double>(per_node)},
          {"mem-per-cpu", static_cast<double>(cores)},
          {"mem-per-gpu", static_cast<double>(gpus)}}) {
      const auto text = take(name);
      if (!text) continue;
      const auto gib = gib_of(*text);
      if (!gib) return wrong(name, *text, "an amount of memory, as 512M or 64G");
      if (*gib == 0) continue;  // all of the node's: no bound
      m_.options["--memory-gib"] = short_number(*gib * times);
    }
    return done();
  }

  SbatchOptions said_;
  SbatchMeaning m_;
};

}  // namespace

Status add_sbatch(const std::vector<std::string>& words, SbatchOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string name, value;
    bool has_value = false;
    if (word.rfind("--", 0) == 0 && word.size() > 2) {
      const std::size_t equals = word.find('=');
      name = word.substr(2, equals == word.npos ? word.npos : equals - 2);
      has_value = equals != word.npos;
      if (has_value) value = word.substr(equals + 1);
    } else if (word.size() > 1 && word[0] == '-') {
      for (const auto& [letter, meaning] : kShort) {
        if (letter == word[1]) name = meaning;
      }
      has_value = word.size() > 2;
      value = word.substr(2);
      if (!value.empty() && value[0] == '=') value.erase(0, 1);
    }
    if (name.empty()) return {Errc::invalid, "'" + word.substr(0, 64) + "' is no option of sbatch"};
    if (!has_value && !is_flag(name) && name != "nice") {
      if (i + 1 == words.size() || words[i + 1].rfind("--", 0) == 0)
        return {Errc::invalid, "'" + word + "' needs a value"};
      value = words[++i];
    }
    options[name] = value;
  }
  return done();
}

Result<SbatchMeaning> meaning_of(SbatchOptions options) {
  return Meaning(std::move(options)).find();
}

}  // namespace starling
