// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/gpu_judge.h"

#include "base/counted.h"

namespace starling {
namespace {

constexpr std::uint32_t kCooler = 5;
constexpr std::uint32_t kMisses = 3;  // one may be a moment's trouble of the driver

/// NVML's bits of what makes hardware slow down; the others (idle, a power cap, application clocks)
/// are as they were set.
std::string held_back(std::uint64_t reasons) {
  struct Reason {
    std::uint64_t bit;
    const char* words;
  };
  constexpr Reason kReasons[] = {{0x8, "a hardware slowdown"},
                                 {0x20, "heat (by software)"},
                                 {0x40, "heat (by hardware)"},
                                 {0x80, "the power brake"}};
  std::string words;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) != 0)
      words += (words.empty() ? "" : ", ") + std::string(reason.words);
  }
  return words;
}

}  // namespace

void GpuJudge::take(Instant now, std::uint32_t gpu, const GpuSample& sample) {
  Verdict& verdict = verdicts_[gpu];
  Past& past = past_[gpu];
  if (verdict.busy == Instant::min() || sample.utilisation.value_or(1) > 0) verdict.busy = now;
  verdict.energy_mj = sample.energy_mj;
  verdict.slow = sample.throttled ? held_back(*sample.throttled) : "";
  if (past.for_good) return;
  if (sample.lost) {
    past.for_good = true;
    verdict.bad = "the driver has lost it";
    return;
  }
  if (sample.unreachable) {
    if (++past.missed < kMisses) return;
    past.hot = false;
    verdict.bad = "the driver cannot reach it";
    return;
  }
  past.missed = 0;
  if (sample.remap_failed) {
    past.for_good = true;
    verdict.bad = "its memory has a broken row and no spare one";
    return;
  }
  if (sample.uncorrected_ecc) {
    if (!past.ecc) past.ecc = sample.uncorrected_ecc;
    if (*sample.uncorrected_ecc > *past.ecc) {
      past.for_good = true;
      verdict.bad =
          counted(*sample.uncorrected_ecc - *past.ecc, "uncorrectable error") + " of its memory";
      return;
    }
  }
  const auto limit = options_.temperature_c ? options_.temperature_c : sample.slowdown_c;
  const bool was_hot = past.hot;
  if (sample.temperature_c && limit)
    past.hot =
        *sample.temperature_c >= *limit || (was_hot && *sample.temperature_c + kCooler > *limit);
  if (!past.hot) verdict.bad = "";
  // As it was when it became so: every change of these words is told.
  if (past.hot && !was_hot)
    verdict.bad = "too hot: " + std::to_string(*sample.temperature_c) + " C, " +
                  std::to_string(*limit) + " is the limit";
}

void GpuJudge::take(const XidEvent& event) {
  if (options_.xids_ignored.contains(event.xid) || past_[event.gpu].for_good) return;
  past_[event.gpu].for_good = true;
  verdicts_[event.gpu].bad = "XID " + std::to_string(event.xid);
}

}  // namespace starling
