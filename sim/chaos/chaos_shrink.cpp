// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_shrink.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

namespace starling {
namespace {

class Shrinker {
 public:
  Shrinker(ShrunkChaos start, const ChaosTrial& trial, const std::function<bool()>& out_of_time)
      : best_(std::move(start)), trial_(trial), out_of_time_(out_of_time) {}

  /// Whether the seed still breaks the rule with `change` made; if so it is kept.
  template <class Change>
  bool accept(Change change) {
    if (out_of_time_()) return false;
    ChaosOptions smaller = best_.options;
    change(smaller);
    ++best_.tries;
    const ChaosRun run = trial_(smaller);
    if (!run.failure || run.failure->rule != best_.failure.rule) return false;
    best_.options = std::move(smaller);
    best_.failure = *run.failure;
    return true;
  }

  /// Large parts first, then smaller ones, then one by one.
  void drop_faults(std::vector<std::string> active) {
    for (std::size_t part = active.size(); part > 0; part /= 2) {
      for (std::size_t at = 0; at < active.size();) {
        const std::size_t end = std::min(active.size(), at + part);
        const auto gone = [&](ChaosOptions& o) {
          for (std::size_t i = at; i < end; ++i) o.without.insert(active[i]);
        };
        if (accept(gone)) {
          active.erase(active.begin() + static_cast<std::ptrdiff_t>(at),
                       active.begin() + static_cast<std::ptrdiff_t>(end));
        } else {
          at = end;
        }
      }
    }
  }

  /// The smallest of `from`, `from` + 1, .. below `now` that will do.
  void lower(std::uint32_t ChaosOptions::*what, std::uint32_t from, std::uint32_t now) {
    for (std::uint32_t n = from; n < now; ++n) {
      if (accept([&](ChaosOptions& o) { o.*what = n; })) return;
    }
  }

  void fewer_jobs(std::uint32_t now) {
    for (std::uint32_t jobs = now; jobs > 1;) {
      const std::uint32_t next = jobs / 2;
      if (!accept([&](ChaosOptions& o) { o.jobs = next; })) break;
      jobs = next;
    }
  }

  void less_time() {
    for (auto minutes = std::chrono::minutes(1); minutes < best_.options.faults_last;
         minutes *= 2) {
      if (accept([&](ChaosOptions& o) { o.faults_last = minutes; })) return;
    }
  }

  [[nodiscard]] ShrunkChaos take() && { return std::move(best_); }

 private:
  ShrunkChaos best_;
  const ChaosTrial& trial_;
  const std::function<bool()>& out_of_time_;
};

Result<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad == std::errc{} && end == text.data() + text.size()) return value;
  return Error{Errc::invalid, "'" + text + "' is not a number"};
}

std::string text_of(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

}  // namespace

ShrunkChaos shrink_chaos(const ChaosOptions& options, const ChaosRun& failing,
                         const ChaosTrial& trial, const std::function<bool()>& out_of_time) {
  ChaosOptions one = options;
  one.first_seed = failing.seed;
  one.seeds = 1;
  Shrinker shrinker({one, *failing.failure, 0}, trial, out_of_time);
  shrinker.drop_faults(failing.active);
  shrinker.lower(&ChaosOptions::agents, 2, failing.agents);
  const std::uint32_t each = failing.agents > 0 ? failing.executors / failing.agents : 0;
  shrinker.lower(&ChaosOptions::executors_each, 1, each);
  shrinker.fewer_jobs(failing.jobs);
  shrinker.less_time();
  return std::move(shrinker).take();
}

std::string chaos_arguments(std::uint64_t seed, const ChaosOptions& options) {
  std::string line = "--first-seed " + std::to_string(seed) + " --seeds 1";
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(options.faults_last);
  if (minutes.count() != 10) line += " --minutes " + std::to_string(minutes.count());
  if (!options.policy.empty()) line += " --policy " + options.policy;
  if (!options.without.empty()) line += " --without " + text_of(options.without);
  if (!options.only.empty()) line += " --only " + text_of(options.only);
  if (options.demo) line += " --demo";
  if (options.agents > 0) line += " --agents " + std::to_string(options.agents);
  if (options.executors_each > 0) line += " --executors " + std::to_string(options.executors_each);
  if (options.jobs > 0) line += " --gangs " + std::to_string(options.jobs);
  return line;
}

std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) {
    if (!name.empty()) names.insert(name);
  }
  return names;
}

Result<ChaosOptions> parse_chaos_arguments(const std::string& line) {
  ChaosOptions options;
  options.seeds = 1;
  std::istringstream words(line);
  for (std::string name, value; words >> name;) {
    if (name == "--demo") {
      options.demo = true;
      continue;
    }
    if (!(words >> value)) return Error{Errc::invalid, name + " has no value"};
    if (name == "--policy") {
      options.policy = value;
      continue;
    }
    if (name == "--without" || name == "--only") {
      (name == "--only" ? options.only : options.without) = names_in(value);
      continue;
    }
    const Result<std::uint64_t> n = number(value);
    if (!n) return Error{Errc::invalid, name + ": " + n.error().message};
    const auto small = static_cast<std::uint32_t>(n.value());
    if (name == "--first-seed") {
      options.first_seed = n.value();
    } else if (name == "--minutes") {
      options.faults_last = std::chrono::minutes(n.value());
    } else if (name == "--agents") {
      options.agents = small;
    } else if (name == "--executors") {
      options.executors_each = small;
    } else if (name == "--gangs") {
      options.jobs = small;
    } else if (name != "--seeds" || small != 1) {
      return Error{Errc::invalid, "'" + name + "' is no option of one seed"};
    }
  }
  return options;
}

}  // namespace starling
