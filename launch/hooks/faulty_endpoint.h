// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "bus/wire/endpoint.h"

namespace starling::chaos_live {

/// What befalls the frames that a node sends. Shares from 0 to 1.
struct FrameFaults {
  double loss = 0, duplicate = 0, reorder = 0;
  double late_ms = 0;  ///< repeats and overtaken frames come up to so much later

  [[nodiscard]] bool none() const { return loss == 0 && duplicate == 0 && reorder == 0; }
};
/// The file between driver and daemon: "loss 0.1 duplicate 0 reorder 0 late_ms 500".
[[nodiscard]] std::string to_text(const FrameFaults& faults);
[[nodiscard]] FrameFaults frame_faults_from(const std::string& text);

/// Loses, repeats and reorders what is sent through `inner`, as `file` says; the file is looked at
/// ten times a second. Contents are never changed: that is the Endpoint's promise, which encryption
/// keeps. One thread.
class FaultyEndpoint final : public Endpoint {
 public:
  FaultyEndpoint(std::unique_ptr<Endpoint> inner, std::filesystem::path file, Rng rng,
                 const Clock& clock)
      : inner_(std::move(inner)), file_(std::move(file)), rng_(rng), clock_(clock) {}

  bool send(NodeId to, std::span<const std::byte> frame) override;
  void found_at(NodeId node, std::uint32_t seat) override { inner_->found_at(node, seat); }
  std::optional<Delivery> receive(Instant deadline) override;

 private:
  struct Late {
    NodeId to;
    std::vector<std::byte> frame;
  };
  void look(Instant now);
  void keep(Instant now, NodeId to, std::span<const std::byte> frame);
  void send_due(Instant now);

  std::unique_ptr<Endpoint> inner_;
  std::filesystem::path file_;
  Rng rng_;
  const Clock& clock_;
  FrameFaults faults_;
  Instant looked_ = Instant::min();
  std::multimap<Instant, Late> late_;
};

}  // namespace starling::chaos_live
