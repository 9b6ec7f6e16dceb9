// SPDX-License-Identifier: Apache-2.0
// starling-profile: one workload as a process, which runs training steps when it is told to.
//
// `starling profile` starts it, pinned to a core, and talks with it over its standard streams:
//   it says     profile ready                       once it is warm
//   it is told  RUN HOLD START FROM TO END          instants of the monotonic clock, in ns
//   it says     profile did STEPS WALL CPU HELD     steps begun from FROM on and before TO; ns
// and runs steps from START to END, so that its neighbours are disturbed all the while they count.
// Where RUN is 0 it makes no steps. Where HOLD is 1 it keeps its core to itself meanwhile.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "interference/profile/steps/exchange.h"
#include "interference/profile/steps/holder.h"
#include "interference/profile/steps/training_step.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kBadUsage = 2;
constexpr std::uint32_t kLinkBytesPerSecond = 125'000'000;  // 1 Gbit/s

int refuse(const std::string& why) {
  std::printf("profile %s\n", why.c_str());
  return kBadUsage;
}

std::uint64_t cpu_ns(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// The other rank of an exchange: a process that answers every step with one of its own.
struct OtherRank {
  pid_t process = -1;
  clockid_t clock{};
};

std::optional<OtherRank> fork_rank(starling::StepOptions options,
                                   std::pair<starling::Exchange, starling::Exchange>& ends,
                                   std::optional<starling::Exchange>& mine) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    { const starling::Exchange close_the_other(std::move(ends.first)); }
    options.exchange = &ends.second;
    auto step = starling::make_step(options);
    while (step && step.value()->run()) {
    }
    ::_exit(0);
  }
  mine.emplace(std::move(ends.first));
  const starling::Exchange close_the_other(std::move(ends.second));
  OtherRank rank{child, {}};
  ::clock_getcpuclockid(child, &rank.clock);
  return rank;
}

/// Before all others who want this core. Sessions are groups of their own to Linux' scheduler, if
/// autogroups are on, so the group has to be raised too.
bool take_precedence() {
  if (::setpriority(PRIO_PROCESS, 0, -20) != 0) return false;
  if (FILE* group = std::fopen("/proc/self/autogroup", "w")) {
    std::fputs("-20", group);
    std::fclose(group);
  }
  return true;
}

int serve(starling::TrainingStep& step, const OtherRank* other, starling::Holder* holder) {
  const auto held = [&] { return holder == nullptr ? 0 : holder->cpu_ns(); };
  const auto used = [&] {
    return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + (other == nullptr ? 0 : cpu_ns(other->clock));
  };
  const auto warm_until = Clock::now() + 200ms;
  for (int i = 0; i < 3 || Clock::now() < warm_until; ++i) {
    if (!step.run()) return refuse("the other rank ended");
  }
  std::printf("profile ready\n");
  int run = 0, hold = 0;
  long long start = 0, from = 0, to = 0, end = 0;
  while (std::scanf("%d %d %lld %lld %lld %lld", &run, &hold, &start, &from, &to, &end) == 6) {
    const auto at = [](long long ns) { return Clock::time_point(std::chrono::nanoseconds(ns)); };
    const auto go_on = [&](long long until) {
      if (run == 0) std::this_thread::sleep_until(at(until));
      return run == 0 || step.run();
    };
    std::this_thread::sleep_until(at(start));
    if (hold == 1 && holder != nullptr) holder->hold_until(at(end));
    while (Clock::now() < at(from)) {
      if (!go_on(from)) return refuse("the other rank ended");
    }
    const auto began = Clock::now();
    const std::uint64_t cpu = used(), spun = held();
    std::uint64_t steps = 0;
    auto now = began;
    for (; now < at(to); now = Clock::now(), ++steps) {
      if (!go_on(to)) return refuse("the other rank ended");
    }
    const std::uint64_t spun_now = held(), cpu_now = used();
    while (Clock::now() < at(end)) {
      if (!go_on(end)) return refuse("the other rank ended");
    }
    const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(now - began).count();
    const std::uint64_t spin = spun_now - spun;
    const std::uint64_t both = std::max(cpu_now - cpu, spin);
    std::printf("profile did %llu %lld %llu %llu\n", static_cast<unsigned long long>(steps),
                static_cast<long long>(wall), static_cast<unsigned long long>(both - spin),
                static_cast<unsigned long long>(spin));
  }
  return 0;
}

int run(const starling::WorkloadSpec& asked, bool gpu, bool first, std::uint64_t seed) {
  const auto specs = starling::parse_workloads(starling::to_text(asked), false);
  if (!specs) return refuse(specs.error().message);
  starling::StepOptions options{specs.value().front(), gpu, seed, nullptr};
  std::optional<starling::Exchange> exchange;
  std::optional<OtherRank> other;
  if (asked.kind == "network") {  // forks before libtorch has threads
    auto ends = starling::loopback_exchange(kLinkBytesPerSecond);
    if (!ends) return refuse(ends.error().message);
    other = fork_rank(options, ends.value(), exchange);
    if (!other) return refuse("no process for the other rank");
    options.exchange = &*exchange;
  }
  auto step = starling::make_step(options);
  if (!step) return refuse(step.error().message);
  std::optional<starling::Holder> holder;
  if (first) holder.emplace();
  return serve(*step.value(), other ? &*other : nullptr, first ? &*holder : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs one workload for `starling profile`, as that tells it to"};
  starling::WorkloadSpec spec;
  bool probe = false, gpu = false, first = false;
  std::uint64_t seed = 1;
  app.add_flag("--probe", probe, "say what this libtorch can use, and end");
  app.add_option("--workload", spec.kind, "dense, embedding, stream, cache or network");
  app.add_option("--batch", spec.batch, "batch size");
  app.add_option("--seed", seed, "of weights and data");
  app.add_flag("--gpu", gpu, "on the first GPU");
  app.add_flag("--first", first, "take precedence over everybody else's processes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ::signal(SIGPIPE, SIG_IGN);
  if (probe) {
    std::printf("profile gpu=%d torch=%s\n", starling::torch_sees_gpu() ? 1 : 0,
                starling::torch_version().c_str());
    return 0;
  }
  if (first && !take_precedence())
    return refuse("cannot take precedence over others: that needs root, or RLIMIT_NICE at 40");
  try {
    return run(spec, gpu, first, seed);
  } catch (const std::exception& error) {  // libtorch throws, for example where memory is short
    std::string why = error.what();
    return refuse(why.substr(0, why.find('\n')));
  }
}
