// SPDX-License-Identifier: Apache-2.0
#include "launch/hooks/faulty_endpoint.h"

#include <algorithm>
#include <sstream>

#include "launch/system/files.h"

namespace starling::chaos_live {
namespace {

constexpr Duration kPollEvery = std::chrono::milliseconds(100);
constexpr std::size_t kMostLate = 10'000;

}  // namespace

std::string to_text(const FrameFaults& f) {
  std::ostringstream out;
  out << "loss " << f.loss << " duplicate " << f.duplicate << " reorder " << f.reorder
      << " late_ms " << f.late_ms << "\n";
  return out.str();
}

FrameFaults frame_faults_from(const std::string& text) {
  FrameFaults f;
  std::istringstream in(text);
  std::string name;
  for (double value = 0; in >> name >> value;) {
    if (name == "loss") f.loss = value;
    if (name == "duplicate") f.duplicate = value;
    if (name == "reorder") f.reorder = value;
    if (name == "late_ms") f.late_ms = value;
  }
  return f;
}

void FaultyEndpoint::look(Instant now) {
  if (looked_ != Instant::min() && now - looked_ < kPollEvery) return;
  looked_ = now;
  const auto text = read_text(file_);
  faults_ = text ? frame_faults_from(text.value()) : FrameFaults{};
}

void FaultyEndpoint::keep(Instant now, NodeId to, std::span<const std::byte> frame) {
  if (late_.size() >= kMostLate) return;
  const Duration late = from_seconds(faults_.late_ms * 1e-3 * rng_.uniform());
  late_.emplace(later(now, late), Late{to, {frame.begin(), frame.end()}});
}

void FaultyEndpoint::send_due(Instant now) {
  while (!late_.empty() && late_.begin()->first <= now) {
    inner_->send(late_.begin()->second.to, late_.begin()->second.frame);
    late_.erase(late_.begin());
  }
}

bool FaultyEndpoint::send(NodeId to, std::span<const std::byte> frame) {
  const Instant now = clock_.now();
  look(now);
  send_due(now);
  if (faults_.none()) return inner_->send(to, frame);
  if (rng_.chance(faults_.loss)) return true;  // as a network loses it: the sender does not know
  if (rng_.chance(faults_.duplicate)) keep(now, to, frame);
  if (rng_.chance(faults_.reorder)) {
    keep(now, to, frame);
    return true;
  }
  return inner_->send(to, frame);
}

std::optional<Delivery> FaultyEndpoint::receive(Instant deadline) {
  const Instant now = clock_.now();
  look(now);
  send_due(now);
  const Instant until = late_.empty() ? deadline : std::min(deadline, late_.begin()->first);
  auto delivery = inner_->receive(until);
  if (!delivery) send_due(clock_.now());
  return delivery;
}

}  // namespace starling::chaos_live
