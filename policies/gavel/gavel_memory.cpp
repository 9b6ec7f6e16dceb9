// SPDX-License-Identifier: Apache-2.0
// What Gavel keeps beyond its process: Policy::save() and restore().
#include <algorithm>
#include <functional>
#include <utility>

#include "policies/gavel/gavel.h"
#include "scheduling/policy_memory.h"

namespace starling {
namespace {

constexpr double kMost = 1e15;  // seconds, and what is made of them
constexpr std::size_t kMostTypes = 64, kMostJobs = 16'384;
constexpr std::size_t kMostName = 256;
constexpr std::size_t kRest = 32 * 1024;  // bytes, for all but jobs and pairs
constexpr std::size_t kAccountWords = 8, kKnownWords = 12, kHeldWords = 3, kTogetherWords = 5;

void write_job(MemoryWriter& out, const std::optional<JobId>& job) {
  out.word(job ? 1 : 0);
  out.job(job.value_or(JobId{}));
}

std::optional<JobId> read_job(MemoryReader& in) {
  const bool there = in.word() != 0;
  const JobId job = in.job();
  return there ? std::optional(job) : std::nullopt;
}

}  // namespace

void GavelRounds::save(MemoryWriter& out, Instant origin,
                       const std::set<GavelCombination>& kept) const {
  out.instant(last_reset_, origin);
  out.numbers(type_time_);
  out.word(static_cast<std::uint64_t>(std::ranges::count_if(
      accounts_, [&](const auto& entry) { return kept.contains(entry.first); })));
  for (const auto& [who, account] : accounts_) {
    if (!kept.contains(who)) continue;
    out.job(who.first), write_job(out, who.second);
    for (const auto* numbers : {&account.received, &account.deficit, &account.allocation})
      out.numbers(*numbers);
  }
}

void GavelRounds::restore(MemoryReader& in, Instant origin) {
  last_reset_ = in.instant(origin);
  type_time_ = in.numbers(types_, 0, kMost);
  if (type_time_.size() != types_) in.fail();
  accounts_.clear();
  for (std::size_t left = in.count(2 * kMostJobs, kAccountWords); left > 0 && in.ok(); --left) {
    const JobId first = in.job();
    Account& account = accounts_[{first, read_job(in)}];
    account.received = in.numbers(types_, 0, kMost);
    account.deficit = in.numbers(types_, -kMost, kMost);
    account.allocation = in.numbers(types_, 0, kMost);
    const bool right = account.received.size() == types_ && account.deficit.size() == types_ &&
                       (account.allocation.empty() || account.allocation.size() == types_);
    if (!right) in.fail();
  }
}

/// A policy that begins anew loses what jobs have done and are owed: the jobs that have run
/// longest, as many as there is room for, and then pairs of them.
std::set<GavelCombination> GavelPolicy::worth_keeping() const {
  const std::size_t account = kAccountWords + 3 * types_.size();
  const std::size_t of_job = 8 * (kKnownWords + account + kHeldWords);
  const std::size_t of_pair = 8 * (kTogetherWords + types_.size() + account);
  std::size_t left = kMostPolicyMemory - kRest;
  std::vector<std::pair<Duration, JobId>> longest;
  for (const auto& [job, known] : known_) longest.emplace_back(known.served, job);
  const std::size_t jobs = std::min({longest.size(), left / of_job, kMostJobs});
  if (jobs < longest.size()) std::ranges::sort(longest, std::ranges::greater{});
  std::set<GavelCombination> kept;
  for (std::size_t i = 0; i < jobs; ++i) kept.emplace(longest[i].second, std::nullopt);
  left -= jobs * of_job;
  for (const Together& pair : together_) {
    if (left < of_pair) break;
    if (!kept.contains({pair.first, std::nullopt}) || !kept.contains({pair.second, std::nullopt}))
      continue;
    kept.emplace(pair.first, pair.second);
    left -= of_pair;
  }
  return kept;
}

void GavelPolicy::write_known(MemoryWriter& out, const std::set<GavelCombination>& kept) const {
  const auto alone = [](const auto& who) { return !who.second; };
  out.word(static_cast<std::uint64_t>(std::ranges::count_if(kept, alone)));
  for (const auto& [job, known] : known_) {
    if (!kept.contains({job, std::nullopt})) continue;
    out.job(job), out.word(known.runs ? *known.runs + 1 : 0);
    out.span(known.served);
    for (const double number : {known.done, known.isolated_s, known.done_at_reset,
                                known.isolated_speed, known.speed_beside})
      out.number(number);
    write_job(out, known.beside);
  }
}

void GavelPolicy::read_known(MemoryReader& in, Restored& all) const {
  for (std::size_t left = in.count(kMostJobs, kKnownWords); left > 0 && in.ok(); --left) {
    const JobId job = in.job();
    Known& known = all.known[job];
    const std::uint64_t runs = in.word();
    if (runs > all.types.size()) in.fail();
    if (runs > 0 && in.ok()) known.runs = runs - 1;
    known.served = in.span();
    for (double* number : {&known.done, &known.isolated_s, &known.done_at_reset,
                           &known.isolated_speed, &known.speed_beside})
      *number = in.number(0, kMost);
    known.beside = read_job(in);
  }
}

std::vector<std::byte> GavelPolicy::save(Instant origin) const {
  if (!accounts_ || known_.empty()) return {};
  const std::set<GavelCombination> kept = worth_keeping();
  const auto held = [&](const auto& entry) { return kept.contains({entry.first, std::nullopt}); };
  const auto together = [&](const Together& pair) {
    return kept.contains({pair.first, pair.second});
  };
  MemoryWriter out;
  rounds_.save(out, origin);
  out.word(types_.size());
  for (const Type& type : types_) out.text(type.name);
  accounts_->save(out, origin, kept);
  write_known(out, kept);
  out.word(static_cast<std::uint64_t>(std::ranges::count_if(fifo_.held(), held)));
  for (const auto& entry : fifo_.held()) {
    if (held(entry)) out.job(entry.first), out.word(entry.second);
  }
  out.word(static_cast<std::uint64_t>(std::ranges::count_if(together_, together)));
  for (const Together& pair : together_) {
    if (together(pair)) out.job(pair.first), out.job(pair.second), out.numbers(pair.speed);
  }
  out.word(changed_ ? 1 : 0);
  out.instant(last_seen_, origin);
  return out.take();
}

Status GavelPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  MemoryReader in(memory);
  const auto began = Rounds::read_began(in, origin);
  std::vector<std::string> types(in.count(kMostTypes, 1));
  for (std::string& type : types) type = in.text(kMostName);
  Restored all{types, GavelRounds(types.size(), gavel_.round), {}, {}, {}, false, {}};
  all.accounts.restore(in, origin);
  read_known(in, all);
  for (std::size_t left = in.count(kMostJobs, kHeldWords); left > 0 && in.ok(); --left) {
    const JobId job = in.job();
    all.held[job] = in.word();
    if (all.held[job] >= types.size()) in.fail();
  }
  all.together.resize(in.count(kMostJobs, kTogetherWords));
  for (Together& pair : all.together) {
    pair.first = in.job(), pair.second = in.job();
    pair.speed = in.numbers(types.size(), 0, kMost);
    if (pair.speed.size() != types.size()) in.fail();
  }
  all.changed = in.word() != 0;
  all.last_seen = in.instant(origin);
  if (!in.whole()) return {Errc::invalid, "it is no account of shares"};
  rounds_.resume(began);
  restored_ = std::move(all);
  return done();
}

/// Every job that is known has an account, and neighbours are known. Where no jobs share GPUs now,
/// or the last reset is still to come by this clock, allocations are made anew.
void GavelPolicy::take_up(const View& view, Restored restored) {
  std::vector<std::string> here;
  for (const Type& type : types_) here.push_back(type.name);
  if (restored.types != here) return;
  std::map<JobId, Known>& known = restored.known;
  const bool shared = shares(view);
  bool anew = restored.accounts.last_reset() > view.now;
  anew = anew || (!shared && restored.accounts.has_pairs());
  for (auto& [job, its] : known) {
    restored.accounts.enter(job);  // nothing where it has one
    if (its.beside && (!shared || !known.contains(*its.beside))) its.beside.reset();
  }
  std::erase_if(restored.together, [&](const Together& pair) {
    return anew || !shared || pair.first >= pair.second || !known.contains(pair.first) ||
           !known.contains(pair.second);
  });
  if (anew) restored.accounts.begin_anew();
  accounts_ = std::move(restored.accounts);
  known_ = std::move(known);
  fifo_.restore(std::move(restored.held));
  together_ = std::move(restored.together);
  changed_ = restored.changed || anew;
  last_seen_ = std::min(restored.last_seen, view.now);
}

}  // namespace starling
