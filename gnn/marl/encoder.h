// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gnn/marl/encoder_net.h"
#include "gnn/marl/graph_shape.h"
#include "policies/candidates/candidates.h"

namespace starling {

/// What the encoder is told of a partition beyond its shape, vertex by vertex; row-major.
struct GraphState {
  std::vector<float> gpus;     ///< [GPUs, EncoderNet::kGpu]
  std::vector<float> servers;  ///< [servers, EncoderNet::kServer]
};

/// The embeddings of one partition (see EncoderNet), followed from decision to decision: after a
/// change on some servers only these and their ways to the root are computed again, so sync() costs
/// what changed, and the result is the same, bit for bit, as that of a fresh encoder. What
/// surrounds a vertex is computed when it is asked for.
class Encoder {
 public:
  static constexpr std::size_t kWidth = EncoderNet::kWidth;

  explicit Encoder(EncoderNet net) : net_(std::move(net)) {}

  /// First in every decision, and after every start within one. `candidates` are in step with
  /// `view`.
  void sync(const View& view, Candidates& candidates);
  /// Of the whole partition.
  [[nodiscard]] std::span<const float> partition() const { return row(root_, 0); }
  /// Of a candidate, EncoderNet::kPlace values: means over its servers and over its GPU groups.
  /// GPUs of other partitions are left out.
  void place(const Topology& topology, const Placement& placement, std::span<float> out);

  [[nodiscard]] const GraphShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const GraphState& state() const noexcept { return state_; }
  /// Servers computed anew since this was made: what incremental work costs.
  [[nodiscard]] std::uint64_t computed() const noexcept { return computed_; }

 private:
  using Rows = std::vector<float>;  // [vertices, kWidth]
  struct Down {
    Rows rows;
    std::vector<std::uint64_t> at;  // by vertex: the version_ it holds for
  };
  static std::span<const float> row(const Rows& rows, std::size_t i) {
    return std::span(rows).subspan(i * kWidth, kWidth);
  }
  static std::span<float> row(Rows& rows, std::size_t i) {
    return std::span(rows).subspan(i * kWidth, kWidth);
  }
  void reset(const View& view);
  void read_server(const View& view, Candidates& candidates, std::uint32_t server);
  void up_server(std::uint32_t server);
  /// `hardware`: the first row of the layer in GraphShape::tree_hardware.
  void up_tree(const GraphShape::Layer& layer, std::size_t hardware, std::uint32_t vertex,
               const Rows& below, Rows& rows);
  std::span<const float> rack_context(std::uint32_t rack);
  std::span<const float> server_context(std::uint32_t server);
  std::span<const float> group_context(std::uint32_t island);

  EncoderNet net_;
  GraphShape shape_;
  GraphState state_;
  const Topology* topology_ = nullptr;
  std::uint64_t seen_ = 0;     // position in the candidates' journal of changes
  std::uint64_t version_ = 0;  // grows with every change
  std::uint64_t computed_ = 0;
  Rows gpus_, islands_, sockets_, servers_, racks_, pods_, root_;  // on the way up
  Down rack_inside_, pod_inside_, places_, groups_;
  GraphShape::Layer whole_;  // one vertex over all pods
  std::vector<std::uint32_t> changed_;
  struct Tenant {
    float gang, busy, sends;
  };
  std::vector<Tenant> tenants_;         // by profile id
  std::array<float, 3 * kWidth> in_{};  // scratch
};

}  // namespace starling
