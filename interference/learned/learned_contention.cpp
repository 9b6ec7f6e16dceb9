// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/learned_contention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "interference/learned/pair_intervals.h"

namespace starling {
namespace {

constexpr std::array kMeasured = {GpuKind::k80, GpuKind::p100, GpuKind::v100};
constexpr std::size_t kKinds = kMeasured.size() + 1;  // and those never measured
constexpr float kNotAsked = -1;
constexpr std::size_t kMostMembers = 32;

std::size_t kind_index(GpuKind kind) noexcept {
  for (std::size_t i = 0; i < kMeasured.size(); ++i) {
    if (kMeasured[i] == kind) return i;
  }
  return kMeasured.size();
}

std::size_t set_of_kind(const PairModel& model, std::size_t kind) {
  const GpuKind stands = kind < kMeasured.size() ? kMeasured[kind] : GpuKind::v100;
  return static_cast<std::size_t>(std::max(gpu_set_of(model, stands), 0));
}

const ModelProfile& model_at(std::size_t index) {
  const std::size_t types = gavel_models().size();
  return index < types ? gavel_models()[index] : catalogue()[index - types];
}

}  // namespace

std::size_t LearnedContention::models() noexcept {
  return gavel_models().size() + catalogue().size();
}

std::size_t LearnedContention::index(const ModelProfile& model) noexcept {
  return model.gavel_type >= 0 ? static_cast<std::size_t>(model.gavel_type)
                               : gavel_models().size() + model.family;
}

std::vector<std::array<float, kGpuProfile>> LearnedContention::profiles() {
  std::vector<std::array<float, kGpuProfile>> out;
  for (std::size_t i = 0; i < models(); ++i) out.push_back(gpu_profile(model_at(i)));
  return out;
}

std::uint32_t LearnedContention::trained_kinds() noexcept {
  std::uint32_t kinds = 0;
  for (const GpuKind kind : kMeasured) kinds |= 1U << static_cast<unsigned>(kind);
  return kinds;
}

LearnedContention::LearnedContention(InterferenceNet net) : net_(std::move(net)) {
  STARLING_CHECK(net_.gpu.has_value());
  const PairModel& model = net_.gpu->model;
  const std::size_t n = models();
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::size_t set = set_of_kind(model, kind);
    for (std::size_t i = 0; i < n; ++i) {
      const PairType type = gpu_type_of(model_at(i));
      const PairSide side = model.side(type);
      if (kind == 0) known_.push_back(side.type >= 0);
      victims_.emplace_back(model.net().row_width());
      aggressors_.emplace_back(model.net().row_width());
      model.net().victim(side, set, victims_.back());
      model.net().aggressor(side, set, aggressors_.back());
    }
  }
  pairs_.assign(kKinds * n * n, {0, kNotAsked});
}

LearnedContention::Pair LearnedContention::compute(std::size_t own, std::size_t other,
                                                   std::size_t kind) const noexcept {
  const PairModel& model = net_.gpu->model;
  const std::size_t members = std::min(model.net().members(), kMostMembers);
  std::array<float, kMostMembers> slow{};
  const std::size_t n = models();
  model.net().log_slowdown(victims_[kind * n + own], aggressors_[kind * n + other],
                           std::span(slow).first(members));
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < members; ++k) {
    const double speed = std::exp(-static_cast<double>(slow[k]));
    sum += speed;
    squares += speed * speed;
  }
  const auto count = static_cast<double>(members);
  const double mean = std::clamp(sum / count, 0.01, 1.0);
  const double sd = std::sqrt(std::max(squares / count - mean * mean, 0.0));
  const double half =
      net_.gpu->intervals.half({mean, sd}, set_of_kind(model, kind), known_[own] && known_[other]) *
      (kind == kMeasured.size() ? kNeverMeasured : 1);
  return {static_cast<float>(-std::log(mean)), static_cast<float>(half / kSigmas90 / mean)};
}

LearnedContention::Pair LearnedContention::pair(const ModelProfile& own, const ModelProfile& other,
                                                GpuKind kind) const noexcept {
  const std::size_t k = kind_index(kind), o = index(own), a = index(other), n = models();
  Pair& kept = pairs_[(k * n + o) * n + a];
  if (kept.deviation < 0) kept = compute(o, a, k);
  return kept;
}

double LearnedContention::on_gpu(const ModelProfile& own,
                                 std::span<const ModelProfile* const> others,
                                 GpuKind kind) const noexcept {
  // In order of size, so that sums of floats do not depend on who is named first.
  std::array<float, 16> slow{};
  double log_slowdown = 0;
  if (others.size() <= slow.size()) {
    for (std::size_t i = 0; i < others.size(); ++i)
      slow[i] = pair(own, *others[i], kind).log_slowdown;
    std::sort(slow.begin(), slow.begin() + static_cast<std::ptrdiff_t>(others.size()));
    for (std::size_t i = 0; i < others.size(); ++i) log_slowdown += static_cast<double>(slow[i]);
  } else {
    for (const ModelProfile* other : others)
      log_slowdown += static_cast<double>(pair(own, *other, kind).log_slowdown);
  }
  return std::expm1(log_slowdown);
}

double LearnedContention::on_host(const ModelProfile& own, double ratio) const noexcept {
  return ratio > 1 ? std::pow(ratio, net_.host(own).cpu_slope) : 1;
}

}  // namespace starling
