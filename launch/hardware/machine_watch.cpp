// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/machine_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/visible.h"
#include "launch/processes/subprocess.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

constexpr std::size_t kMostSaid = 400;  // of a probe's last line

}  // namespace

/// Outlives the object where a thread hangs, so that has all that threads use but the clock, which
/// is asked under the lock and only while the object lives.
struct MachineWatch::Shared {
  HealthOptions options;
  std::string library;
  const Clock* clock = nullptr;
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  int threads = 0;
  Word word;

  /// False: it is over.
  bool pause(Duration length) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, length, [this] { return over; });
  }
  void ended() {
    const std::lock_guard lock(mutex);
    --threads;
    changed.notify_all();
  }

  void watch_gpus() {
    const auto nvml = Nvml::open(library);
    GpuJudge judge(options);
    const std::uint32_t count = nvml == nullptr ? 0 : nvml->count();
    while (count > 0) {
      std::vector<GpuSample> samples;
      for (std::uint32_t gpu = 0; gpu < count; ++gpu) samples.push_back(nvml->sample(gpu));
      const std::vector<XidEvent> errors = nvml->errors();
      {
        const std::lock_guard lock(mutex);
        if (over) return;
        for (std::uint32_t gpu = 0; gpu < count; ++gpu) judge.take(clock->now(), gpu, samples[gpu]);
        for (const XidEvent& event : errors) judge.take(event);
        bool news = word.gpus.size() != judge.verdicts().size();
        for (const auto& [gpu, verdict] : judge.verdicts()) {
          const GpuJudge::Verdict& before = word.gpus[gpu];
          news = news || before.bad.empty() != verdict.bad.empty() || before.slow != verdict.slow;
        }
        word.gpus = judge.verdicts();
        word.looked = clock->now();
        if (news) ++word.version;
      }
      if (!pause(options.gpu_interval)) return;
    }
  }

  void run_command() {
    ProgramOptions how;
    how.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout);
    do {
      const Finished ran = run_program(options.command, how);
      if (stop_requested()) return;  // which has ended it
      std::string failed;
      if (ran.late) {
        failed = "it took longer than " + human_seconds(seconds(options.timeout));
      } else if (!ran.ok()) {
        failed = visible_line(
            last_words({ran.status, ran.out, ran.err.empty() ? ran.out : ran.err, false}));
        if (failed.size() > kMostSaid) failed = failed.substr(0, kMostSaid) + "..";
        if (failed.empty()) failed = "status " + std::to_string(ran.status);
      }
      const std::lock_guard lock(mutex);
      if (over) return;
      if (failed.empty() && !options.undrain) failed = word.failed;
      if (std::exchange(word.failed, failed) != failed) ++word.version;
    } while (pause(options.interval));
  }
};

MachineWatch::MachineWatch(HealthOptions options, bool gpus, const Clock& clock,
                           std::string library)
    : shared_(std::make_shared<Shared>()) {
  shared_->options = std::move(options);
  shared_->library = std::move(library);
  shared_->clock = &clock;
  const auto begin = [this](void (Shared::*work)()) {
    ++shared_->threads;
    std::thread([shared = shared_, work] {
      ((*shared).*work)();
      shared->ended();
    }).detach();
  };
  const std::lock_guard lock(shared_->mutex);
  if (gpus && shared_->options.watch_gpus) begin(&Shared::watch_gpus);
  if (!shared_->options.command.empty()) begin(&Shared::run_command);
}

MachineWatch::~MachineWatch() {
  std::unique_lock lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::seconds(1),
                            [this] { return shared_->threads == 0; });
}

MachineWatch::Word MachineWatch::word() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->word;
}

}  // namespace starling
