// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/submit_commands.h"

#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "launch/command_line/exit_codes.h"

namespace starling::chaos_live {
namespace {

/// Client places of a flock but that of the driver.
constexpr std::size_t kMostAtOnce = 3;
/// From its start to its answer such a command takes some 0.1 s.
constexpr double kKilledWithin = 0.3;

}  // namespace

SubmitCommands::SubmitCommands(const ChaosScenario& scenario, std::filesystem::path dir,
                               Audit& audit)
    : scenario_(scenario),
      dir_(std::move(dir)),
      audit_(audit),
      rng_(Rng(scenario.seed).fork(0xc0aad)) {}

void SubmitCommands::start(double now) {
  const LoadSpec& load = scenario_.load;
  const JobId job{scenario_.seed + 1, (std::uint64_t{1} << 32U) + ++next_};
  const std::string name = "submit-" + std::to_string(next_);
  const Manner manner = load.manners[rng_.below(static_cast<std::uint32_t>(load.manners.size()))];
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", load.seconds.draw(rng_));
  const std::vector<std::string> words{
      own_program(), "submit",       "--flock",  (dir_ / "flock").string(),
      "--id",        to_string(job), "--",       own_program(),
      "chaos",       "job",          "--dir",    (dir_ / "work").string(),
      "--seconds",   seconds,        "--manner", std::string(facts_of(manner).name)};
  audit_.submitted_elsewhere(now, job, facts_of(manner).fails);
  if (!supervisor_.start(name, words, dir_ / "work" / "commands.log").ok()) return;
  const bool dies = rng_.chance(load.submit_kills);
  commands_[name] = {job, dies ? now + kKilledWithin * rng_.uniform() : 0};
}

void SubmitCommands::step(double now, bool submit_more) {
  const double rate = scenario_.load.submits_per_s;
  if (due_ < 0) due_ = now;
  for (; submit_more && rate > 0 && due_ <= now; due_ += rng_.exponential() / rate) {
    if (commands_.size() < kMostAtOnce) start(now);
  }
  for (auto& [name, running] : commands_) {
    if (running.kill_at <= 0 || now < running.kill_at) continue;
    running.kill_at = 0;
    if (const pid_t pid = supervisor_.pid_of(name); pid > 0) ::kill(pid, SIGKILL);
  }
  for (const Supervisor::Ended& ended : supervisor_.poll()) {
    const auto at = commands_.find(ended.name);
    STARLING_CHECK(at != commands_.end());
    if (ended.status == kDone) audit_.accepted_elsewhere(now, at->second.job);
    commands_.erase(at);
  }
}

}  // namespace starling::chaos_live
