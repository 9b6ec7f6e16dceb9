// SPDX-License-Identifier: Apache-2.0
// What Gavel keeps beyond its process: Policy::save() and restore().
#include <algorithm>
#include <utility>

#include "policies/gavel/gavel.h"

namespace starling {
namespace {

constexpr double kMost = 1e15;  // seconds, and what is made of them
constexpr std::size_t kMostTypes = 64, kMostJobs = 16'384;
constexpr std::size_t kMostName = 256;
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

void GavelRounds::save(MemoryWriter& out, Instant origin) const {
  out.instant(last_reset_, origin);
  out.numbers(type_time_);
  out.word(accounts_.size());
  for (const auto& [who, account] : accounts_) {
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

void GavelPolicy::write_known(MemoryWriter& out) const {
  out.word(known_.size());
  for (const auto& [job, known] : known_) {
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
  MemoryWriter out;
  rounds_.save(out, origin);
  out.word(types_.size());
  for (const Type& type : types_) out.text(type.name);
  accounts_->save(out, origin);
  write_known(out);
  out.word(fifo_.held().size());
  for (const auto& [job, type] : fifo_.held()) out.job(job), out.word(type);
  out.word(together_.size());
  for (const Together& pair : together_)
    out.job(pair.first), out.job(pair.second), out.numbers(pair.speed);
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

/// Every job that is known has an account, and neighbours are known.
void GavelPolicy::take_up(Restored restored) {
  std::vector<std::string> here;
  for (const Type& type : types_) here.push_back(type.name);
  if (restored.types != here) return;
  for (auto& [job, known] : restored.known) {
    restored.accounts.enter(job);  // nothing where it has one
    if (known.beside && !restored.known.contains(*known.beside)) known.beside.reset();
  }
  accounts_ = std::move(restored.accounts);
  known_ = std::move(restored.known);
  fifo_.restore(std::move(restored.held));
  together_ = std::move(restored.together);
  changed_ = restored.changed;
  last_seen_ = restored.last_seen;
}

}  // namespace starling
