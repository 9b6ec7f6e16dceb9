// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/step_meter.h"

#include <cmath>
#include <sstream>

#include "launch/guardian/part_files.h"

namespace starling {
namespace {

constexpr std::size_t kMostBytes = 96;
constexpr int kMostWindows = 100;  // a running mean from there on, for jobs that change

bool sane(double value) { return std::isfinite(value) && value >= 0 && value < 1e15; }

}  // namespace

std::optional<StepReport> read_steps(const std::filesystem::path& file,
                                     std::optional<uid_t> owner) {
  // Its job owns it, so it can be anything by now.
  const auto text = read_own_file(file, kMostBytes, owner);
  if (!text) return std::nullopt;
  std::istringstream in(text.value());
  StepReport report;
  if (!(in >> report.steps) || !sane(report.steps)) return std::nullopt;
  if (!(in >> report.alone) || !sane(report.alone)) report.alone = 0;
  if (!(in >> report.noise) || !sane(report.noise)) report.noise = 0;
  return report;
}

void StepMeter::begin(Instant now, double steps) {
  since_ = now;
  steps_ = steps;
}

double StepMeter::look(Instant now, const StepReport& report, std::uint64_t neighbours) {
  if (since_ == kNever || neighbours != neighbours_ || report.steps < steps_) {
    neighbours_ = neighbours;
    speed_ = 0;
    begin(now, report.steps);
    return 0;
  }
  const Duration window = now - since_;
  const double done = report.steps - steps_;
  if (window < kWindow || done < kLeastSteps) return speed_;
  const double rate = done / seconds(window);
  begin(now, report.steps);
  if (neighbours == 0 && report.alone <= 0) {
    if (windows_ < kMostWindows) ++windows_;
    alone_ += (rate - alone_) / windows_;
  }
  const double alone = report.alone > 0 ? report.alone : alone_;
  return speed_ = alone > 0 ? rate / alone : 0;
}

}  // namespace starling
