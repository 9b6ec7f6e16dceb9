// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_head.h"

#include <algorithm>

#include "base/check.h"

namespace starling {
namespace {

/// Beside a job's own numbers: whether there is no job, where it stands, by how much it has more
/// left than the one with the least and more workers than the one with the fewest; and of all jobs
/// how many there are, what share they have, and what they have left on average.
constexpr std::size_t kMore = 7;
/// Where Dl2Slot::encode() has them among a job's numbers.
constexpr std::size_t kLeft = 1, kShare = 3, kWorkers = 4;

std::uint32_t narrow(std::size_t n) { return static_cast<std::uint32_t>(n); }

}  // namespace

std::vector<std::uint32_t> Dl2Head::widths(const Dl2Shape& shape, Kind kind,
                                           std::span<const std::uint32_t> hidden) {
  std::vector<std::uint32_t> all{narrow(shape.shared ? shape.width() + kMore : shape.inputs())};
  all.insert(all.end(), hidden.begin(), hidden.end());
  all.push_back(kind == Kind::critic ? 1 : shape.shared ? 3 : narrow(shape.actions()));
  return all;
}

Dl2Head::Dl2Head(const Dl2Shape& shape, Kind kind, TrainableMlp net)
    : shape_(shape), kind_(kind), net_(std::move(net)) {
  const auto fits = widths(shape, kind, {});
  STARLING_CHECK(net_.inputs() == fits.front() && net_.outputs() == fits.back());
}

std::size_t Dl2Head::answers() const noexcept {
  return kind_ == Kind::critic ? 1 : shape_.actions();
}

void Dl2Head::expand(std::span<const float> state) {
  const std::size_t width = shape_.width(), types = shape_.types.size() + 1;
  const auto number = [&](std::size_t i, std::size_t which) {
    return state[i * width + types + which];
  };
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < shape_.window; ++i) {
    const auto type = state.subspan(i * width, types);
    if (std::ranges::find(type, 1.0F) != type.end()) there.push_back(i);
  }
  float least_left = 0, fewest = 0, share = 0, left = 0;
  for (const std::size_t i : there) {
    least_left = i == there.front() ? number(i, kLeft) : std::min(least_left, number(i, kLeft));
    fewest = i == there.front() ? number(i, kWorkers) : std::min(fewest, number(i, kWorkers));
    share += number(i, kShare);
    left += number(i, kLeft) / static_cast<float>(there.size());
  }
  const float count = static_cast<float>(there.size()) / 20;
  for (const std::size_t i : there) {
    inputs_.insert(inputs_.end(), state.begin() + static_cast<std::ptrdiff_t>(i * width),
                   state.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    const float more[kMore] = {0,
                               static_cast<float>(i) / static_cast<float>(shape_.window),
                               number(i, kLeft) - least_left,
                               number(i, kWorkers) - fewest,
                               count,
                               share,
                               left};
    inputs_.insert(inputs_.end(), std::begin(more), std::end(more));
    rows_.push_back({states_, i});
  }
  inputs_.insert(inputs_.end(), width, 0.0F);
  const float no_job[kMore] = {1, 0, 0, 0, count, share, left};
  inputs_.insert(inputs_.end(), std::begin(no_job), std::end(no_job));
  rows_.push_back({states_, shape_.window});
  ++states_;
}

std::span<const float> Dl2Head::forward(std::span<const float> states, std::size_t rows) {
  if (!shape_.shared) return net_.forward(states, rows);
  inputs_.clear();
  rows_.clear();
  states_ = 0;
  for (std::size_t i = 0; i < rows; ++i)
    expand(states.subspan(i * shape_.inputs(), shape_.inputs()));
  const auto answered = net_.forward(inputs_, rows_.size());
  row_values_ = answered;
  outputs_.assign(rows * answers(), 0.0F);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (kind_ == Kind::critic) {
      outputs_[row.state] += answered[r];
    } else {
      const std::size_t own = row.position == shape_.window ? 1 : 3;
      const std::size_t at = row.state * answers() + 3 * row.position;
      for (std::size_t k = 0; k < own; ++k) outputs_[at + k] = answered[3 * r + k];
    }
  }
  return outputs_;
}

void Dl2Head::backward(std::span<const float> by_answers) {
  if (!shape_.shared) return net_.backward(by_answers);
  by_net_.assign(rows_.size() * net_.outputs(), 0.0F);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (kind_ == Kind::critic) {
      by_net_[r] = by_answers[row.state];
    } else {
      const std::size_t own = row.position == shape_.window ? 1 : 3;
      const std::size_t at = row.state * answers() + 3 * row.position;
      for (std::size_t k = 0; k < own; ++k) by_net_[3 * r + k] = by_answers[at + k];
    }
  }
  net_.backward(by_net_);
}

}  // namespace starling
