// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_net.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace starling {
namespace {

constexpr std::uint32_t kMostWindow = 256;
constexpr std::size_t kMostTypes = 256;
constexpr double kUnits = 1 << 12;  // of a score, that are told apart

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Scores that differ by rounding alone are equal.
float rounded(double score) {
  return static_cast<float>(std::round(std::clamp(score, -1e4, 1e4) * kUnits) / kUnits);
}

}  // namespace

Result<Dl2Shape> dl2_shape_of(const Weights& weights) {
  Dl2Shape shape;
  const std::string window = weights.note("window");
  const char* const end = window.data() + window.size();
  const auto [last, error] = std::from_chars(window.data(), end, shape.window);
  if (error != std::errc{} || last != end || shape.window < 1 || shape.window > kMostWindow)
    return {Errc::invalid, "note window is '" + window.substr(0, 32) +
                               "'; it is a number from 1 to " + std::to_string(kMostWindow) +
                               " in weights of dl2"};
  shape.types = split(weights.note("types"));
  const std::string head = weights.note("head", "flat");
  shape.shared = head == "shared";
  if (head != "flat" && head != "shared")
    return {Errc::invalid, "note head is '" + head.substr(0, 32) + "'; it is flat or shared"};
  if (shape.types.size() > kMostTypes)
    return {Errc::invalid, "note types names " + std::to_string(shape.types.size()) +
                               " models; at most " + std::to_string(kMostTypes) + " are taken"};
  return shape;
}

void put_shape(Weights& weights, const Dl2Shape& shape) {
  weights.notes["window"] = std::to_string(shape.window);
  std::string types;
  for (const std::string& type : shape.types) types += (types.empty() ? "" : ",") + type;
  weights.notes["types"] = types;
  weights.notes["head"] = shape.shared ? "shared" : "flat";
}

Result<Dl2Head> dl2_head_of(const Weights& weights, const Dl2Shape& shape, Dl2Head::Kind kind) {
  const std::string prefix = kind == Dl2Head::Kind::critic ? "critic." : "actor.";
  auto net = TrainableMlp::make(weights, prefix);
  if (!net) return net.error();
  const auto fits = Dl2Head::widths(shape, kind, {});
  if (net.value().inputs() != fits.front() || net.value().outputs() != fits.back()) {
    return {Errc::invalid,
            prefix + " takes " + std::to_string(net.value().inputs()) + " numbers and answers " +
                std::to_string(net.value().outputs()) + "; with its window, types and head it is " +
                std::to_string(fits.front()) + " and " + std::to_string(fits.back())};
  }
  return Dl2Head(shape, kind, std::move(net).value());
}

Result<Dl2Net> Dl2Net::make(const Weights& weights) {
  auto shape = dl2_shape_of(weights);
  if (!shape) return shape.error();
  auto actor = dl2_head_of(weights, shape.value(), Dl2Head::Kind::actor);
  if (!actor) return actor.error();
  return Dl2Net(std::move(shape).value(), std::move(actor).value());
}

void Dl2Net::score(const Dl2Slot& slot, std::size_t block) {
  inputs_.resize(shape_.inputs());
  slot.encode(block, inputs_);
  const auto answered = actor_.forward(inputs_, 1);
  Block& here = blocks_[block];
  here.scores.assign(answered.begin(), answered.end());
  here.stop = static_cast<double>(answered.back());
  here.finite = std::ranges::all_of(answered, [](float score) { return std::isfinite(score); });
  here.masked = false;
  if (!here.finite) return;
  for (float& score : here.scores) score = rounded(static_cast<double>(score));
}

/// Of equal ones the first is the best.
void Dl2Net::mask(const Dl2Slot& slot, std::size_t block) {
  Block& here = blocks_[block];
  here.mask.resize(shape_.actions());
  here.most = slot.mask(block, here.mask);
  here.masked = true;
  const std::size_t last = shape_.actions() - 1;
  here.best = last;
  for (std::size_t i = 0; i < last; ++i)
    if (here.mask[i] && (here.best == last || here.scores[i] > here.scores[here.best]))
      here.best = i;
  here.above_best = 0;
  for (std::size_t i = 0; i < last; ++i)
    if (here.mask[i])
      here.above_best += std::exp(static_cast<double>(here.scores[i] - here.scores[here.best]));
}

void Dl2Net::look(const Dl2Slot& slot) {
  blocks_.resize(slot.blocks());
  for (std::size_t block = 0; block < blocks_.size(); ++block) score(slot, block);
}

void Dl2Net::took(const Dl2Slot& slot, const Dl2Action& action) {
  score(slot, slot.block_of(action));
}

std::optional<Dl2Choice> Dl2Net::choose(const Dl2Slot& slot, double temperature, Rng& rng) {
  double stop = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_[b].finite) return std::nullopt;
    if (!blocks_[b].masked || !slot.has_room(blocks_[b].most)) mask(slot, b);
    stop += blocks_[b].stop / static_cast<double>(blocks_.size());
  }
  return temperature >= kColdest ? drawn(slot, rounded(stop), temperature, rng)
                                 : likeliest(slot, rounded(stop));
}

/// Of equal ones the first, and rather anything than nothing.
Dl2Choice Dl2Net::likeliest(const Dl2Slot& slot, float stop) const {
  const std::size_t last = shape_.actions() - 1;
  Dl2Choice choice;
  float best = stop;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& here = blocks_[b];
    if (here.best == last || here.scores[here.best] < best) continue;
    if (choice.action && here.scores[here.best] == best) continue;
    best = here.scores[here.best];
    choice.action = slot.action_of(b, here.best);
  }
  double sum = std::exp(static_cast<double>(stop - best));
  for (const Block& here : blocks_)
    if (here.best != last)
      sum += here.above_best * std::exp(static_cast<double>(here.scores[here.best] - best));
  choice.probability = 1 / sum;
  return choice;
}

Dl2Choice Dl2Net::drawn(const Dl2Slot& slot, float stop, double temperature, Rng& rng) const {
  std::vector<float> all;
  std::vector<std::uint8_t> allowed;
  for (const Block& here : blocks_) {
    all.insert(all.end(), here.scores.begin(), here.scores.end() - 1);
    allowed.insert(allowed.end(), here.mask.begin(), here.mask.end() - 1);
  }
  all.push_back(stop);
  allowed.push_back(1);
  const auto chances = masked_softmax(all, allowed, temperature);
  std::size_t at = chances.size() - 1;
  double u = rng.uniform();
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (chances[i] <= 0) continue;
    at = i;
    if ((u -= chances[i]) < 0) break;
  }
  Dl2Choice choice{std::nullopt, chances[at]};
  const std::size_t of_block = shape_.actions() - 1;
  if (at + 1 < all.size()) choice.action = slot.action_of(at / of_block, at % of_block);
  return choice;
}

std::vector<double> masked_softmax(std::span<const float> scores,
                                   std::span<const std::uint8_t> mask, double temperature) {
  double most = -INFINITY, sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (mask[i]) most = std::max(most, static_cast<double>(scores[i]));
  std::vector<double> out(scores.size(), 0.0);
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (mask[i]) sum += out[i] = std::exp((static_cast<double>(scores[i]) - most) / temperature);
  for (double& p : out) p /= sum;
  return out;
}

}  // namespace starling
