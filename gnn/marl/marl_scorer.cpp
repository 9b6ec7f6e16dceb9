// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/marl_scorer.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace starling {

namespace {

/// What another agent said, if it is an embedding of ours: nothing that it sends breaks a score.
void add_summary(std::span<const float> summary, float part, std::span<float> out) {
  constexpr float kMost = 100;
  if (summary.size() != EncoderNet::kWidth) return;
  for (std::size_t i = 0; i < summary.size(); ++i)
    out[i] += part * (std::isfinite(summary[i]) ? std::clamp(summary[i], -kMost, kMost) : 0.0F);
}

/// The mean of all of them.
void read_summaries(const View& view, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  const auto said = std::ranges::count_if(
      view.others, [](const RemoteDigest& d) { return d.summary.size() == EncoderNet::kWidth; });
  if (said == 0) return;
  for (const RemoteDigest& d : view.others)
    add_summary(d.summary, 1.0F / static_cast<float>(said), out);
}

}  // namespace

MarlScorer::MarlScorer(MarlNet net) : net_(std::move(net)), others_(EncoderNet::kWidth, 0.0F) {
  if (net_.has_encoder()) encoder_.emplace(net_.encoder());
}

PlacementRules MarlScorer::rules() const {
  PlacementRules rules;
  rules.shared = SharedPlaces::always;
  rules.waits = net_.waits();
  rules.forecasts = true;
  if (net_.waits()) rules.minimum_gain = Features::kMinimumGain;
  return rules;
}

void MarlScorer::begin(const DecisionContext& context) {
  queue_ = {context.queue.queue().size(), 0, 0, 0};
  by_size_.assign(33, 0);
  for (const QueueEntry& entry : context.queue.queue()) {
    queue_.gpus += entry.gpus;
    ++by_size_[static_cast<std::size_t>(std::bit_width(entry.gpus))];
  }
  for (std::size_t i = 1; i < by_size_.size(); ++i) by_size_[i] += by_size_[i - 1];
  if (encoder_) read_summaries(context.view, others_);
}

void MarlScorer::end(const View& view, Candidates& candidates) {
  if (!encoder_ || view.others.empty()) return;
  encoder_->sync(view, candidates);  // what others are told is what has been decided
  synced_ = true;
}

std::span<const float> MarlScorer::summary() const {
  return synced_ ? encoder_->partition() : std::span<const float>{};
}

QueueView MarlScorer::queue_of(const PlacementRequest& request) const {
  QueueView queue = queue_;
  const auto smaller = by_size_[static_cast<std::size_t>(std::bit_width(request.gpus)) - 1];
  if (queue.jobs > 0)
    queue.smaller = static_cast<double>(smaller) / static_cast<double>(queue.jobs);
  return queue;
}

void MarlScorer::score_options(const DecisionPoint& point, std::span<double> scores) {
  if (point.forced()) return;
  if (encoder_) {
    encoder_->sync(point.view, point.candidates);
    synced_ = true;
  }
  fill_rows(point);
  scores_.resize(point.options.size());
  net_.score(rows_, scores_);
  if (std::ranges::all_of(scores_, [](float x) { return std::isfinite(x); })) {
    std::ranges::copy(scores_, scores.begin());
  } else {
    rule_.score(point, scores);
  }
}

void MarlScorer::fill_rows(const DecisionPoint& point) {
  rows_.resize(point.options.size() * Features::kRow);
  const double alone = point.best_alone();
  for (std::size_t i = 0; i < point.options.size(); ++i) {
    const std::span<float> row = std::span(rows_).subspan(i * Features::kRow, Features::kRow);
    std::ranges::fill(row, 0.0F);
    if (i == 0) {
      situation_inputs(point, queue_of(point.request), InputRow(row));
    } else {
      std::copy_n(rows_.begin(), Features::kSituation, row.begin());
    }
    option_inputs(point, alone, point.options[i].place, InputRow(row));
    crossed_inputs(InputRow(row));
    if (encoder_) fill_embeddings(point, point.options[i], row.subspan(Features::kOwn));
  }
  fill_forwards(point, alone);
}

void MarlScorer::fill_embeddings(const DecisionPoint& point, const PlacementOption& option,
                                 std::span<float> embeddings) {
  if (option.place != nullptr)
    encoder_->place(point.view.topology, option.place->placement,
                    embeddings.first(EncoderNet::kPlace));
  std::ranges::copy(encoder_->partition(), embeddings.begin() + EncoderNet::kPlace);
  const auto others = embeddings.subspan(EncoderNet::kPlace + EncoderNet::kWidth);
  if (option.destination == nullptr) {
    std::ranges::copy(others_, others.begin());
  } else {
    add_summary(option.destination->summary, 1, others);
  }
}

void MarlScorer::fill_forwards(const DecisionPoint& point, double best) {
  if (point.out.destinations.empty()) return;
  constexpr double kGain = Features::kMinimumGain;
  const Candidate* least = least_interference(point, least_gain(point, kGain));
  const Destination* faster = nullptr;
  if (least != nullptr) faster = point.better_elsewhere(kGain, least->slowdown);
  const Destination* waits = point.better_elsewhere(kGain, std::nullopt);
  for (std::size_t i = 0; i < point.options.size(); ++i) {
    const Destination* there = point.options[i].destination;
    if (there == nullptr) continue;
    const InputRow row{std::span(rows_).subspan(i * Features::kRow, Features::kRow)};
    forward_inputs(point.job, *there, best, point.out.queue, row);
    row.set(Input::rule_faster, there == faster);
    row.set(Input::rule_waits, there == waits);
  }
}

}  // namespace starling
