// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/scenario/load_scenario.h"

#include <algorithm>

#include "launch/chaos/scenario/fault_kinds.h"
#include "launch/experiment/values.h"
#include "launch/wiring/wiring.h"
#include "topology/reading/yaml_reader.h"
#include "workload/text/text_file.h"
#include "workload/yaml_documents.h"

namespace starling::chaos_live {
namespace {

constexpr std::size_t kFileBytes = std::size_t{1} << 20U;
constexpr double kLongest = 7 * 86'400.0;

class Reader {
 public:
  explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  ChaosScenario root(const YAML::Node& node) {
    const YamlMap map(
        diagnostics_, node, "a scenario",
        {"name", "description", "flock", "load", "length", "seed", "faults", "expect"});
    ChaosScenario s;
    if (!node.IsMap()) return s;
    s.name = map.name("name", std::nullopt);
    if (s.name.find('/') != std::string::npos)
      diagnostics_.add(map.place("name"), "name has a '/'; folders are called so");
    if (map.has("description") && map.get("description").IsScalar())
      s.description = map.get("description").Scalar();
    s.length = length(map, "length", s.length);
    s.seed = map.whole("seed", 0, 0xffff'ffff, 1);
    if (map.has("flock")) s.flock = flock(map.get("flock"));
    if (map.has("load")) s.load = load(map.get("load"), s.flock);
    // What is not said fits the servers.
    std::erase_if(s.load.gpus, [&](std::uint32_t gpus) { return gpus > s.flock.gpus; });
    if (map.has("expect")) s.expect = expect(map.get("expect"), s.flock);
    for (const YAML::Node& entry : map.list("faults", false)) {
      s.faults.push_back(fault(entry, s));
    }
    return s;
  }

 private:
  double seconds_of(const YAML::Node& node, const std::string& key) {
    const auto read = node.IsScalar()
                          ? read_length(node.Scalar())
                          : Result<Duration>(Errc::invalid, "that is no length of time");
    if (read && seconds(read.value()) <= kLongest) return seconds(read.value());
    diagnostics_.add(place_of(node),
                     key + ": " + (read ? "that is more than 7d" : read.error().message));
    return 1;
  }
  double length(const YamlMap& map, const char* key, double fallback) {
    return map.has(key) ? seconds_of(map.get(key), key) : fallback;
  }
  /// One length, or [least, most].
  Span span(const YamlMap& map, const char* key, Span fallback) {
    if (!map.has(key)) return fallback;
    const YAML::Node node = map.get(key);
    if (!node.IsSequence()) {
      const double s = seconds_of(node, key);
      return {s, s};
    }
    if (node.size() != 2) {
      diagnostics_.add(place_of(node), std::string(key) + " is a list of " +
                                           std::to_string(node.size()) +
                                           "; write one length, or [least, most]");
      return fallback;
    }
    const Span read{seconds_of(node[0], key), seconds_of(node[1], key)};
    if (read.least > read.most)
      diagnostics_.add(place_of(node), std::string(key) + ": the least is more than the most");
    return read;
  }
  std::string choice(const YamlMap& map, const char* key, const std::vector<std::string>& known,
                     const std::string& fallback) {
    std::string word = map.name(key, fallback);
    if (std::find(known.begin(), known.end(), word) != known.end()) return word;
    if (!word.empty())
      diagnostics_.add(map.place(key),
                       std::string(key) + " is '" + word + "'" + suggestion(word, known));
    return fallback;
  }

  FlockShape flock(const YAML::Node& node) {
    const YamlMap map(diagnostics_, node, "flock",
                      {"agents", "executors", "gpus", "state", "standbys", "hosts", "launcher",
                       "policy", "orphan", "disk_mib"});
    FlockShape f;
    f.agents = map.whole("agents", 1, 64, f.agents);
    f.executors = map.whole("executors", 1, 256, std::max(f.executors, f.agents));
    if (f.executors < f.agents)
      diagnostics_.add(map.place("executors"),
                       "executors is less than agents; every agent needs one at least");
    f.gpus = map.whole("gpus", 1, 16, f.gpus);
    f.standbys = map.whole("standbys", 0, 16, f.standbys);
    f.state = choice(map, "state", {"sqlite", "etcd"}, f.state);
    f.hosts = choice(map, "hosts", {"loopback", "namespaces"}, f.hosts);
    f.launcher = choice(map, "launcher", {"process", "emulated"}, f.launcher);
    f.policy = map.name("policy", f.policy);
    f.orphan = length(map, "orphan", 0);
    if (map.has("orphan") && (f.orphan < 3 || f.orphan > 300))
      diagnostics_.add(map.place("orphan"),
                       "orphan is not within 3s and 300s, which is the product's");
    f.disk_mib = map.whole("disk_mib", 0, 65'536, f.disk_mib);
    if (map.has("disk_mib") && f.disk_mib < 16)
      diagnostics_.add(map.place("disk_mib"),
                       "disk_mib is less than 16; an executor's journal has to fit");
    if (const auto policy = all_policies().make(f.policy); !policy)
      diagnostics_.add(map.place("policy"), policy.error().message);
    return f;
  }

  LoadSpec load(const YAML::Node& node, const FlockShape& flock) {
    const YamlMap map(diagnostics_, node, "load",
                      {"jobs_per_s", "outstanding", "seconds", "gpus", "gangs", "cancel",
                       "resubmit", "query", "manners", "submits_per_s", "submit_kills"});
    LoadSpec l;
    l.jobs_per_s = map.number("jobs_per_s", 0, 10'000, l.jobs_per_s);
    l.outstanding = map.whole("outstanding", 0, 100'000, l.outstanding);
    l.seconds = span(map, "seconds", l.seconds);
    l.gangs = map.number("gangs", 0, 1, l.gangs);
    l.cancel = map.number("cancel", 0, 1, l.cancel);
    l.resubmit = map.number("resubmit", 0, 1, l.resubmit);
    l.query = map.number("query", 0, 1, l.query);
    if (map.has("gpus")) l.gpus.clear();
    for (const YAML::Node& entry : map.list("gpus", false)) {
      double n = 0;
      try {
        n = entry.as<double>();
      } catch (const YAML::Exception&) {
      }
      if (n < 1 || n > flock.gpus || n != static_cast<std::uint32_t>(n)) {
        diagnostics_.add(place_of(entry), "gpus has an entry that is no whole number from 1 to " +
                                              std::to_string(flock.gpus) +
                                              ", which is what a server has");
        continue;
      }
      l.gpus.push_back(static_cast<std::uint32_t>(n));
    }
    if (l.gpus.empty()) l.gpus = {1};
    l.submits_per_s = map.number("submits_per_s", 0, 100, l.submits_per_s);
    l.submit_kills = map.number("submit_kills", 0, 1, l.submit_kills);
    if (map.has("manners")) read_manners(map, flock, l);
    return l;
  }

  void read_manners(const YamlMap& map, const FlockShape& flock, LoadSpec& l) {
    std::vector<std::string> names;
    for (const MannerFacts& m : manners()) names.emplace_back(m.name);
    l.manners.clear();
    for (const YAML::Node& entry : map.list("manners", false)) {
      const std::string name = entry.IsScalar() ? entry.Scalar() : "";
      if (const auto manner = manner_named(name)) {
        l.manners.push_back(*manner);
      } else {
        diagnostics_.add(place_of(entry), "no job has the manner '" + name.substr(0, 60) + "'" +
                                              suggestion(name, names));
      }
    }
    if (l.manners.empty()) l.manners = {Manner::plain};
    if (flock.launcher != "process")
      diagnostics_.add(map.place("manners"),
                       "manners are of processes; leave launcher: emulated out");
  }

  Expectations expect(const YAML::Node& node, const FlockShape& flock) {
    const YamlMap map(diagnostics_, node, "expect",
                      {"faults", "kills", "takeovers", "takeover_median", "takeover_most",
                       "answered_within", "rss_mib", "throughput", "recovered_within"});
    Expectations e;
    e.faults = map.whole("faults", 0, 1'000'000, 0);
    e.kills = map.whole("kills", 0, 1'000'000, 0);
    e.takeovers = map.whole("takeovers", 0, 1'000'000, 0);
    e.takeover_median = length(map, "takeover_median", 0);
    e.takeover_most = length(map, "takeover_most", 0);
    e.answered_within = length(map, "answered_within", 0);
    e.recovered_within = length(map, "recovered_within", e.recovered_within);
    e.rss_mib = map.number("rss_mib", 0, 1e6, 0.0);
    e.throughput = map.number("throughput", 0, 10, 0.0);
    if ((e.takeovers > 0 || e.takeover_median > 0 || e.takeover_most > 0) && flock.state != "etcd")
      diagnostics_.add(map.place(), "takeovers happen only with flock: {state: etcd}");
    return e;
  }

  FaultTarget target(const YAML::Node& node, const FaultFacts& facts, const ChaosScenario& s) {
    const auto read =
        node.IsScalar() ? parse_target(node.Scalar())
                        : Result<FaultTarget>(Errc::invalid, "who is a list of lists; write names");
    if (!read) {
      diagnostics_.add(place_of(node), "who: " + read.error().message);
      return {};
    }
    const FaultTarget& t = read.value();
    if (std::find(facts.targets.begin(), facts.targets.end(), t.kind) == facts.targets.end())
      diagnostics_.add(place_of(node),
                       std::string(facts.name) + " cannot hit '" + node.Scalar() + "'");
    if (t.kind == FaultTarget::Kind::etcd && s.flock.state != "etcd")
      diagnostics_.add(place_of(node),
                       "who is etcd, but the flock has none; add flock: {state: etcd}");
    const std::uint32_t there = t.kind == FaultTarget::Kind::executor ? s.flock.executors
                                : t.kind == FaultTarget::Kind::etcd   ? 3
                                                                      : s.flock.agents;
    if (t.number && *t.number >= there)
      diagnostics_.add(place_of(node), "there is no " + node.Scalar() +
                                           "; they are numbered 0 to " + std::to_string(there - 1));
    return t;
  }

  void who(const YamlMap& map, const FaultFacts& facts, const ChaosScenario& s, FaultSpec& f) {
    if (facts.targets.empty()) return;
    if (!map.has("who")) {
      diagnostics_.add(map.place(), std::string(facts.name) + " lacks 'who'; add who: any agent");
      return;
    }
    const YAML::Node node = map.get("who");
    std::vector<YAML::Node> entries{node};
    if (node.IsSequence()) entries = {node.begin(), node.end()};
    if (entries.empty() || entries.size() > facts.most_targets) {
      diagnostics_.add(place_of(node), "who has " + std::to_string(entries.size()) + " entries; " +
                                           facts.name + " takes " +
                                           (facts.most_targets == 2 ? "one or two" : "one"));
      return;
    }
    for (const YAML::Node& entry : entries) f.who.push_back(target(entry, facts, s));
  }

  void when(const YamlMap& map, const FaultFacts& facts, const ChaosScenario& s, FaultSpec& f) {
    const int ways = map.has("at") + map.has("every") + map.has("mean");
    if (ways != 1) {
      diagnostics_.add(map.place(), std::string(facts.name) +
                                        (ways == 0 ? " does not say when" : " says when twice") +
                                        "; write one of at: 10s, every: 5s, mean: 5s (at random)");
    }
    if (map.has("at")) {
      const YAML::Node node = map.get("at");
      std::vector<YAML::Node> entries{node};
      if (node.IsSequence()) entries = {node.begin(), node.end()};
      for (const YAML::Node& entry : entries) {
        f.at.push_back(seconds_of(entry, "at"));
        if (f.at.back() > s.length)
          diagnostics_.add(place_of(entry), "at is after the end; length is " +
                                                std::to_string(static_cast<long>(s.length)) + "s");
      }
    }
    f.every = length(map, "every", 0);
    f.mean = length(map, "mean", 0);
    for (const char* key : {"every", "mean"}) {
      if (map.has(key) && length(map, key, 0) < 0.01)
        diagnostics_.add(map.place(key), std::string(key) + " is less than 0.01s");
    }
    f.from = length(map, "from", 0);
    f.until = length(map, "until", 0);
    if (!f.at.empty() && (map.has("from") || map.has("until")))
      diagnostics_.add(map.place("at"), "from and until go with every and mean, not with at");
  }

  FaultSpec fault(const YAML::Node& node, const ChaosScenario& s) {
    FaultSpec f;
    std::vector<std::string> names;
    for (const FaultFacts& facts : fault_kinds()) names.emplace_back(facts.name);
    const YAML::Node kind = child_of(node, "fault");
    if (!node.IsMap() || kind.IsNull() || !kind.IsScalar()) {
      diagnostics_.add(place_of(node),
                       "an entry of faults is no mapping with 'fault'; write "
                       "{fault: kill, who: any agent, every: 5s}");
      return f;
    }
    const auto all = fault_kinds();
    const auto facts = std::find_if(all.begin(), all.end(),
                                    [&](const FaultFacts& k) { return kind.Scalar() == k.name; });
    if (facts == all.end()) {
      diagnostics_.add(place_of(kind), "there is no fault '" + kind.Scalar().substr(0, 60) + "'" +
                                           suggestion(kind.Scalar(), names));
      return f;
    }
    std::vector<std::string> keys{"fault", "at", "every", "mean", "from", "until"};
    if (!facts->targets.empty()) keys.emplace_back("who");
    if (facts->lasts) keys.emplace_back("for");
    if (facts->comes_back) keys.emplace_back("down");
    if (facts->kind == LiveFaultKind::cut) keys.emplace_back("direction");
    if (facts->kind == LiveFaultKind::disk_error) keys.emplace_back("errors");
    for (const Parameter& p : facts->parameters) keys.emplace_back(p.name);
    const YamlMap map(diagnostics_, node, "the fault '" + std::string(facts->name) + "'", keys);
    f.kind = facts->kind;
    who(map, *facts, s, f);
    when(map, *facts, s, f);
    f.lasts = span(map, "for", facts->lasts_default);
    f.down = span(map, "down", {0, 3});
    for (const Parameter& p : facts->parameters)
      f.with[p.name] = p.yes_or_no ? (map.yes(p.name, p.fallback > 0) ? 1 : 0)
                                   : map.number(p.name, p.least, p.most, p.fallback);
    if (facts->kind == LiveFaultKind::cut) {
      const std::string way = choice(map, "direction", {"both", "out", "in"}, "both");
      f.direction = way == "out" ? Direction::out : way == "in" ? Direction::in : Direction::both;
    }
    if (facts->kind == LiveFaultKind::disk_error)
      f.once = choice(map, "errors", {"once", "always"}, "once") == "once";
    const bool kernel = f.kind == LiveFaultKind::link_down || f.kind == LiveFaultKind::packet_loss;
    if (kernel && s.flock.hosts != "namespaces")
      diagnostics_.add(
          place_of(kind),
          std::string(facts->name) + " needs hosts of their own; add flock: {hosts: namespaces}");
    if (f.kind == LiveFaultKind::fill_disk && s.flock.disk_mib == 0)
      diagnostics_.add(place_of(kind),
                       "fill-disk needs file systems of their own; add flock: {disk_mib: 64}");
    return f;
  }

  Diagnostics& diagnostics_;
};

}  // namespace

Result<ChaosScenario> parse_scenario(const std::string& text, const std::string& file) {
  Diagnostics diagnostics(file);
  std::vector<std::string> notes;
  diagnostics.accept_old_spellings(notes);
  try {
    if (const auto second = second_document(text)) {
      diagnostics.add({second->line + 1, second->column + 1},
                      "a second document starts; a scenario is one mapping");
      return diagnostics.error();
    }
    ChaosScenario scenario = Reader(diagnostics).root(YAML::Load(text));
    if (diagnostics.any()) return diagnostics.error();
    scenario.notes = std::move(notes);
    return scenario;
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    diagnostics.add(known ? SourcePlace{error.mark.line + 1, error.mark.column + 1} : SourcePlace{},
                    "this is not YAML: " + error.msg);
    return diagnostics.error();
  }
}

Result<ChaosScenario> load_scenario(const std::string& file_or_name) {
  std::vector<std::string> names;
  for (const BuiltIn& known : built_in_scenarios()) {
    names.emplace_back(known.name);
    if (file_or_name == known.name) return parse_scenario(known.text, file_or_name + ".yaml");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file_or_name, ignored)) {
    return {Errc::invalid, file_or_name + ": no such file, and no scenario of that name" +
                               suggestion(file_or_name, names)};
  }
  const auto text = read_text_file(file_or_name, kFileBytes);
  if (!text) return {Errc::invalid, text.error().message};
  return parse_scenario(text.value(), file_or_name);
}

}  // namespace starling::chaos_live
