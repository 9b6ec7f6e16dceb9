// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/dynamic_batches.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace starling {
namespace {

constexpr ShockwaveModel kModels[] = {{"ResNet-18", 50'000, 256},
                                      {"ResNet-50", 100'000, 128},
                                      {"Transformer", 10'000, 128},
                                      {"LM", 59'675, 80},
                                      {"Recommendation", 117'907, 8192}};

struct Doubling {
  std::string_view model;
  std::uint32_t first, gpus;
  std::array<std::int64_t, 4> epochs;  ///< from which the batch is twice as large; 0: no more
};
// clang-format off
constexpr Doubling kDoublings[] = {
    {"ResNet-18", 16, 1, {31, 41, 51, 71}}, {"ResNet-18", 32, 1, {21, 31, 51}},
    {"ResNet-18", 64, 1, {11, 31}}, {"ResNet-18", 128, 1, {11}},
    {"ResNet-18", 16, 2, {21, 31, 91, 111}}, {"ResNet-18", 32, 2, {11, 21, 41}},
    {"ResNet-18", 64, 2, {21, 41}}, {"ResNet-18", 128, 2, {41}},
    {"ResNet-18", 16, 4, {11, 21, 81, 91}}, {"ResNet-18", 32, 4, {21, 31, 61}},
    {"ResNet-18", 64, 4, {11, 61}}, {"ResNet-18", 128, 4, {11}},
    {"ResNet-50", 64, 1, {101}}, {"ResNet-50", 32, 2, {101, 111}}, {"ResNet-50", 64, 2, {81}},
    {"ResNet-50", 32, 4, {131, 221}}, {"ResNet-50", 64, 4, {191}},
    {"LM", 5, 1, {31, 41, 61, 71}}, {"LM", 10, 1, {11, 21, 41}}, {"LM", 20, 1, {11, 41}},
    {"LM", 40, 1, {11}}, {"LM", 5, 2, {31, 51, 61, 71}}, {"LM", 10, 2, {11, 31, 41}},
    {"LM", 20, 2, {31, 41}}, {"LM", 40, 2, {11}}, {"LM", 5, 4, {11, 31, 71, 91}},
    {"LM", 10, 4, {11, 31, 61}}, {"LM", 20, 4, {11, 61}}, {"LM", 40, 4, {61}},
    {"Recommendation", 512, 1, {21, 41, 71, 91}}, {"Recommendation", 1024, 1, {21, 51, 91}},
    {"Recommendation", 2048, 1, {21, 41}}, {"Recommendation", 4096, 1, {41}}};
// clang-format on

std::span<const std::int64_t> doublings(std::string_view model, std::uint32_t first,
                                        std::uint32_t gpus) {
  for (const Doubling& d : kDoublings) {
    if (d.model != model || d.first != first || d.gpus != gpus) continue;
    return {d.epochs.begin(), std::find(d.epochs.begin(), d.epochs.end(), 0)};
  }
  return {};
}

bool within(std::int64_t epoch, std::int64_t from, std::int64_t to) {
  return epoch >= from && epoch < to;
}

}  // namespace

const ShockwaveModel* shockwave_model(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kModels), std::end(kModels),
                                   [&](const ShockwaveModel& m) { return m.name == name; });
  return found == std::end(kModels) ? nullptr : found;
}

bool DynamicBatches::critical(std::int64_t epoch) const {
  const std::string_view name = model_->name;
  if (name == "LM") return epoch < 10;
  if (name == "Recommendation") return epoch < (first_ <= 1024 ? 30 : first_ == 2048 ? 40 : 10);
  if (name == "ResNet-50") return epoch % 30 < 10;
  if (name == "ResNet-18")
    return epoch < (first_ == 256 ? 20 : 10) || within(epoch, 150, 160) || within(epoch, 250, 260);
  return true;  // a Transformer is never out of it
}

std::uint32_t DynamicBatches::tabulated(std::int64_t epoch) const {
  std::uint32_t batch = first_;
  for (const std::int64_t from : doublings(model_->name, first_, gpus_)) {
    if (epoch >= from) batch *= 2;
  }
  return std::min(batch, model_->most_batch);
}

std::optional<std::uint32_t> DynamicBatches::next(std::uint32_t batch, std::int64_t epochs) const {
  if (mode_ == BatchMode::fixed || first_ == model_->most_batch) return std::nullopt;
  if (mode_ == BatchMode::gns) {
    // It looks an epoch ahead, as a change waits until the job has run for another round.
    const bool grows = tabulated(epochs + 1) > batch || tabulated(epochs) > batch;
    return grows && batch != model_->most_batch ? std::optional(2 * batch) : std::nullopt;
  }
  const std::uint32_t right = critical(epochs) ? first_ : model_->most_batch;
  return right != batch ? std::optional(right) : std::nullopt;
}

std::vector<std::uint32_t> DynamicBatches::profile(std::int64_t epochs) const {
  std::vector<std::uint32_t> batches(static_cast<std::size_t>(epochs), first_);
  if (mode_ == BatchMode::gns) {
    const auto from = doublings(model_->name, first_, gpus_);
    if (from.empty()) return batches;
    for (std::int64_t e = 0; e < epochs; ++e) batches[static_cast<std::size_t>(e)] = tabulated(e);
    if (from.size() > 1 && epochs > from[1]) batches.back() = first_;
  } else if (mode_ == BatchMode::accordion) {
    const bool recommends = model_->name == "Recommendation";
    for (std::int64_t e = 0; e < epochs; ++e) {
      const bool more = recommends && (within(e, 60, 70) || within(e, 80, 90));
      if (!critical(e) && !more && static_cast<double>(e) > static_cast<double>(epochs) * 0.3)
        batches[static_cast<std::size_t>(e)] = model_->most_batch;
    }
  }
  return batches;
}

std::vector<std::uint32_t> DynamicBatches::all() const {
  std::vector<std::uint32_t> batches = {first_};
  if (mode_ == BatchMode::accordion && model_->name != "Transformer" &&
      first_ != model_->most_batch)
    batches.push_back(model_->most_batch);
  if (mode_ == BatchMode::gns) {
    for (const std::int64_t from : doublings(model_->name, first_, gpus_)) {
      if (tabulated(from) > batches.back()) batches.push_back(tabulated(from));
    }
  }
  return batches;
}

}  // namespace starling
