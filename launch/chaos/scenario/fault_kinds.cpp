// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/scenario/fault_kinds.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/check.h"
#include "launch/system/text.h"
#include "topology/reading/diagnostics.h"

namespace starling::chaos_live {
namespace {

using K = FaultTarget::Kind;

const std::vector<K>& processes() {
  static const std::vector<K> all{K::agent, K::executor, K::node,         K::rack,
                                  K::etcd,  K::home,     K::busy_executor};
  return all;
}
const std::vector<K>& daemons() {
  static const std::vector<K> all{K::agent, K::executor, K::node,
                                  K::rack,  K::home,     K::busy_executor};
  return all;
}

const std::vector<K>& executors() {
  static const std::vector<K> all{K::executor, K::busy_executor};
  return all;
}

struct Word {
  K kind;
  const char* one;
  const char* many;
};
constexpr std::array<Word, 5> kWords{{{K::agent, "agent", "agents"},
                                      {K::executor, "executor", "executors"},
                                      {K::node, "node", "nodes"},
                                      {K::rack, "rack", "racks"},
                                      {K::etcd, "etcd", "etcd"}}};

const char* const kNoDaemons = "simulated daemons have neither descriptors nor memory of their own";

const char* const kForms =
    "; write agent 1, any agent, 2 agents, all agents (and so for executor, node, rack, etcd), "
    "home of a job, or busy executor";

}  // namespace

std::span<const FaultFacts> fault_kinds() {
  // Kind, name, what it is, whom it hits and how many of them, whether it lasts, whether it comes
  // back, for how long, parameters, what it is in simulation or why nothing.
  // clang-format off
  static const std::vector<FaultFacts> all{
      {LiveFaultKind::kill, "kill", "kill -9; started again after `down`", processes(), 1, false, true,
       {}, {}, "F1"},
      {LiveFaultKind::stop, "stop", "frozen (SIGSTOP) for so long, then woken", processes(), 1, true,
       false, {1, 8}, {}, "F2-pause"},
      {LiveFaultKind::restart, "restart", "told to end (SIGTERM); started again after `down`",
       processes(), 1, false, true, {}, {}, "F1"},
      {LiveFaultKind::cut, "cut",
       "links pass nothing: of one node with all others, or between two; `direction: out` or `in` "
       "of the first alone", processes(), 2, true, false, {1, 8}, {}, "F4-isolate"},
      {LiveFaultKind::swizzle, "swizzle",
       "the links of a node are cut one after the other and healed in another order", daemons(), 1,
       true, false, {2, 8}, {}, "F6"},
      {LiveFaultKind::delay, "delay", "links pass everything `delay_ms` later, with jitter",
       processes(), 2, true, false, {2, 10},
       {{"delay_ms", 0, 60'000, 100}, {"jitter_ms", 0, 60'000, 50}}, "F7-delay"},
      {LiveFaultKind::throttle, "throttle", "links pass `bytes_per_s`", processes(), 2, true, false,
       {2, 10}, {{"bytes_per_s", 1, 1e12, 20'000}}, "F17-reader"},
      {LiveFaultKind::close, "close", "connections are closed `per_s` times a second each",
       processes(), 2, true, false, {2, 10}, {{"per_s", 0.001, 1000, 0.5}}, "F8-loss"},
      {LiveFaultKind::corrupt, "corrupt",
       "a share of what links pass has a bit flipped, so that encryption ends the connection",
       processes(), 2, true, false, {2, 10}, {{"share", 0, 1, 0.02}}, "F11"},
      {LiveFaultKind::frames, "frames",
       "a share of the frames that a node sends is lost, repeated, or overtaken by later ones",
       daemons(), 1, true, false, {3, 12},
       {{"loss", 0, 1, 0.1}, {"duplicate", 0, 1, 0.1}, {"reorder", 0, 1, 0.1},
        {"late_ms", 0, 60'000, 500}}, "F8, F9, F10"},
      {LiveFaultKind::disk_full, "disk-full", "every write to the node's state says ENOSPC", daemons(),
       1, true, false, {1, 6}, {}, "F13"},
      {LiveFaultKind::disk_error, "disk-error",
       "writes and syncs of the node's state say EIO, `errors: once` or `always`", daemons(), 1,
       true, false, {1, 6}, {}, "F14"},
      {LiveFaultKind::slow_disk, "slow-disk", "every sync of the node's state takes `sync_ms` longer",
       daemons(), 1, true, false, {2, 10}, {{"sync_ms", 0, 60'000, 300}}, "F16"},
      {LiveFaultKind::fd_limit, "fd-limit", "the node may open only `spare` files more", daemons(), 1,
       true, false, {2, 8}, {{"spare", 0, 100'000, 2}}, "", kNoDaemons},
      {LiveFaultKind::garbage, "garbage",
       "strangers connect to the node's socket and write random bytes, `per_s` a second",
       daemons(), 1, true, false, {2, 8}, {{"per_s", 0.1, 10'000, 50}}, "",
       "what strangers write ends below what is simulated"},
      {LiveFaultKind::storm, "storm", "`times` the load", {}, 0, true, false, {2, 5},
       {{"times", 1, 100'000, 20}}, "F18-herd"},
      {LiveFaultKind::link_down, "link-down", "a rack's network interface is down", {K::rack}, 1, true,
       false, {1, 8}, {}, "F4-rack"},
      {LiveFaultKind::packet_loss, "packet-loss", "the kernel drops `loss` of a rack's packets",
       {K::rack}, 1, true, false, {3, 10}, {{"loss", 0, 1, 0.1}}, "F8-loss"},
      {LiveFaultKind::drain, "drain",
       "the executor's server is drained, with `evict: yes` what runs there is requeued; then "
       "undone", executors(), 1, true, false, {2, 15}, {{"evict", 0, 1, 0, true}}, "F24-drain"},
      {LiveFaultKind::bad_gpu, "bad-gpu",
       "the executor's health file names `gpus` of its GPUs; they are used again 60 s later",
       executors(), 1, true, false, {1, 15}, {{"gpus", 1, 16, 1}}, "F20-gpu"},
      {LiveFaultKind::version, "version",
       "told to end and started again with protocol 1, and so with the newest when it is over",
       daemons(), 1, true, false, {3, 20}, {}, "F19"},
      {LiveFaultKind::clock, "clock",
       "the daemon's wall clock jumps by `jump_s`, back or forth, and runs `rate` times as fast",
       daemons(), 1, true, false, {2, 20}, {{"jump_s", 0, 1e9, 86'400}, {"rate", 0.1, 10, 1}},
       "F12-calendar"},
      {LiveFaultKind::fill_disk, "fill-disk",
       "nothing is left of the executor's file system (flock: {disk_mib: N})", executors(), 1,
       true, false, {1, 6}, {}, "F13"},
      {LiveFaultKind::memory_limit, "memory-limit",
       "the daemon may have only `spare_mib` of memory more; it may end of that", daemons(), 1,
       true, false, {2, 8}, {{"spare_mib", 0, 1e6, 4}}, "", kNoDaemons},
      {LiveFaultKind::lose, "lose",
       "the executor's machine dies with all its processes and never comes back", executors(), 1,
       false, false, {}, {}, "F20-gone"},
  };
  // clang-format on
  return all;
}

const FaultFacts& facts_of(LiveFaultKind kind) {
  const auto all = fault_kinds();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.kind == kind; });
  STARLING_CHECK(it != all.end());
  return *it;
}

Result<FaultTarget> parse_target(const std::string& text) {
  FaultTarget target;
  if (text == "home of a job" || text == "home") {
    target.kind = K::home;
    return target;
  }
  if (text == "busy executor") {
    target.kind = K::busy_executor;
    return target;
  }
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  const Error wrong{Errc::invalid,
                    "'" + text.substr(0, 60) + "' is no process of a flock" + kForms};
  if (words.empty() || words.size() > 2) return wrong;
  const std::string& noun = words.size() == 2 && parse_whole(words[1]) ? words[0] : words.back();
  const auto known = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const Word& w) { return noun == w.one || noun == w.many; });
  if (known == kWords.end()) {
    std::vector<std::string> names{"home of a job", "busy executor"};
    for (const Word& w : kWords) names.insert(names.end(), {w.one, w.many});
    const auto near = nearest(noun, names);
    return {Errc::invalid, "'" + text.substr(0, 60) + "' is no process of a flock" +
                               (near ? "; did you mean '" + *near + "'?" : kForms)};
  }
  target.kind = known->kind;
  if (words.size() == 1) return target;
  if (const auto number = parse_whole(words[1])) {
    if (target.kind == K::node || *number > 65'535) return wrong;
    target.number = static_cast<std::uint32_t>(*number);
  } else if (words[0] == "all") {
    target.all = true;
  } else if (const auto many = parse_whole(words[0]); many && *many >= 1 && *many <= 65'535) {
    target.count = static_cast<std::uint32_t>(*many);
  } else if (words[0] != "any") {
    return wrong;
  }
  return target;
}

std::string to_text(const FaultTarget& target) {
  if (target.kind == K::home) return "home of a job";
  if (target.kind == K::busy_executor) return "busy executor";
  const auto word = std::find_if(kWords.begin(), kWords.end(),
                                 [&](const Word& w) { return w.kind == target.kind; });
  if (target.number) return std::string(word->one) + " " + std::to_string(*target.number);
  if (target.all) return std::string("all ") + word->many;
  if (target.count > 1) return std::to_string(target.count) + " " + word->many;
  return std::string("any ") + word->one;
}

}  // namespace starling::chaos_live
