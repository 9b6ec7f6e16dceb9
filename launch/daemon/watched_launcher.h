// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agents/executor/executor.h"
#include "base/time.h"
#include "launch/daemon/machine_report.h"

namespace starling {

/// Any launcher, and beside what that says of health its executor's health file
/// (launch/deployment/health_file.h) and what is known of the hardware. A file that makes no sense
/// goes into the log and changes nothing.
class WatchedLauncher final : public Launcher {
 public:
  /// All outlive it. `gpus`: those of the executor. Looks at the file twice a second of `clock`,
  /// and asks `report` (null: none), whose findings go to hardware.json beside the file.
  WatchedLauncher(Launcher& inner, std::filesystem::path file, IndexRange gpus, const Clock& clock,
                  MachineReport* report = nullptr)
      : inner_(inner), file_(std::move(file)), gpus_(gpus), clock_(clock), report_(report) {}

  Status start(const LaunchSpec& spec) override;
  void stop(AttemptId attempt, Duration grace) override { inner_.stop(attempt, grace); }
  void renew(AttemptId attempt, Instant until) override { inner_.renew(attempt, until); }
  void signal(AttemptId attempt, std::uint32_t number) override { inner_.signal(attempt, number); }
  void adopt(std::span<const LaunchSpec> ran) override;
  std::vector<Exit> reap() override;
  std::vector<Progress> measure() override { return inner_.measure(); }
  [[nodiscard]] Instant next_deadline() const noexcept override { return inner_.next_deadline(); }
  std::optional<SickGpus> health_news() override;
  [[nodiscard]] OutputPage read_output(const ReadOutput& read) const override {
    return inner_.read_output(read);
  }

 private:
  bool look_at_file();      ///< true: what it says has changed
  bool look_at_report();    ///< the same
  void take(SickGpus own);  ///< what inner_ says from now on
  Launcher& inner_;
  std::filesystem::path file_;
  IndexRange gpus_;
  const Clock& clock_;
  MachineReport* report_;
  Instant next_ = Instant::min();
  bool told_ = false;  // the findings of this life
  std::string last_;   // what the file said
  Placement sick_;     // says the file
  SickGpus inner_sick_;
};

}  // namespace starling
