// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/encoder.h"

#include <algorithm>
#include <cmath>

#include "workload/catalogue.h"

namespace starling {
namespace {

constexpr std::size_t W = EncoderNet::kWidth;

/// Mean over the rows of a range.
void mean(const std::vector<float>& rows, IndexRange range, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    for (std::size_t k = 0; k < W; ++k) out[k] += rows[i * W + k];
  }
  const float part = range.size() == 0 ? 0.0F : 1.0F / static_cast<float>(range.size());
  for (float& value : out) value *= part;
}

}  // namespace

void Encoder::reset(const View& view) {
  topology_ = &view.topology;
  shape_ = make_graph_shape(view.topology, view.gpus.servers());
  state_.gpus.assign(shape_.gpus.size() * EncoderNet::kGpu, 0);
  state_.servers.assign(shape_.servers.size() * EncoderNet::kServer, 0);
  gpus_.assign(shape_.gpus.size() * W, 0);
  islands_.assign(shape_.islands.size() * W, 0);
  sockets_.assign(shape_.sockets.size() * W, 0);
  servers_.assign(shape_.servers.size() * W, 0);
  racks_.assign(shape_.racks.size() * W, 0);
  pods_.assign(shape_.pods.size() * W, 0);
  root_.assign(W, 0);
  const auto empty = [](Down& down, std::uint32_t count) {
    down.rows.assign(count * W, 0);
    down.at.assign(count, 0);
  };
  empty(rack_inside_, shape_.racks.size());
  empty(pod_inside_, shape_.pods.size());
  empty(places_, shape_.servers.size());
  empty(groups_, shape_.islands.size());
  whole_.children = {{0, shape_.pods.size()}};
  tenants_.clear();
}

void Encoder::sync(const View& view, Candidates& candidates) {
  const auto changed = candidates.changed_since(seen_);
  const bool whole =
      topology_ != &view.topology || shape_.servers != view.gpus.servers() || !changed;
  changed_.clear();
  if (whole) {
    reset(view);
    for (std::uint32_t s = 0; s < shape_.servers.size(); ++s) changed_.push_back(s);
  } else {
    changed_.assign(changed->begin(), changed->end());
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  }
  seen_ = candidates.changes();
  if (changed_.empty()) return;
  ++version_;
  computed_ += changed_.size();
  for (const std::uint32_t s : changed_) {
    read_server(view, candidates, s);
    up_server(s);
  }
  // Servers ascend, so those of one rack, and the racks of one pod, come together.
  std::uint32_t done = ~0U;
  for (const std::uint32_t s : changed_) {
    const std::uint32_t rack = shape_.hosts.parent[s];
    if (rack != done) up_tree(shape_.racks, 0, rack, servers_, racks_);
    done = rack;
  }
  done = ~0U;
  for (const std::uint32_t s : changed_) {
    const std::uint32_t pod = shape_.racks.parent[shape_.hosts.parent[s]];
    if (pod != done) up_tree(shape_.pods, shape_.racks.size(), pod, racks_, pods_);
    done = pod;
  }
  if (net_.data_center) up_tree(whole_, shape_.racks.size() + shape_.pods.size(), 0, pods_, root_);
}

void Encoder::read_server(const View& view, Candidates& candidates, std::uint32_t server) {
  Residents& residents = candidates.residents();
  while (tenants_.size() < residents.profiles()) {
    const JobProfile& job = residents.profile(static_cast<std::uint32_t>(tenants_.size()));
    const ModelProfile& model = model_profile(job.model);
    tenants_.push_back(
        {static_cast<float>(std::log2(std::max(job.gpus, 1U)) / 5),
         static_cast<float>(model.gpu_utilization),
         static_cast<float>(std::log10(1 + model.gradient_mib / model.iteration_s) / 4)});
  }
  const IndexRange range = view.topology.server(ServerId{shape_.servers.first + server}).gpus;
  const std::uint32_t first = range.first - shape_.gpus.first;
  float* const gpus = state_.gpus.data() + first * EncoderNet::kGpu;
  std::fill(gpus, gpus + range.size() * EncoderNet::kGpu, 0.0F);
  std::uint32_t crossing = 0;
  for (const std::uint32_t slot : residents.on(server)) {
    const Resident& job = residents.at(slot);
    crossing += job.servers.size() > 1 ? 1 : 0;
    const Tenant& tenant = tenants_[job.profile];
    const auto& placement = job.self.placement;
    auto gpu = std::lower_bound(placement.begin(), placement.end(), GpuId{range.first});
    for (; gpu != placement.end() && gpu->value < range.last; ++gpu) {
      float* const x = gpus + (gpu->value - range.first) * EncoderNet::kGpu;
      x[1] += 1;
      x[6] += tenant.gang;
      x[7] += tenant.busy;
      x[8] += tenant.sends;
    }
  }
  std::uint32_t free = 0;
  for (std::uint32_t i = 0; i < range.size(); ++i) {
    const GpuId gpu{range.first + i};
    float* const x = gpus + i * EncoderNet::kGpu;
    const auto tenants = std::max(static_cast<std::uint32_t>(x[1]), view.gpus.tenants(gpu));
    const bool is_free = candidates.free().is_free(gpu);
    free += is_free ? 1 : 0;
    x[0] = is_free ? 1.0F : 0.0F;
    x[1] = tenants == 1 ? 1.0F : 0.0F;
    x[2] = tenants > 1 ? 1.0F : 0.0F;
    x[3] = tenants == 0 && !is_free ? 1.0F : 0.0F;
    x[4] = shape_.gpu_speed[first + i];
    x[5] = shape_.gpu_memory[first + i];
  }
  float* const x = state_.servers.data() + server * EncoderNet::kServer;
  for (std::size_t k = 0; k < GraphShape::kServerHardware; ++k)
    x[k] = shape_.server_hardware[server * GraphShape::kServerHardware + k];
  x[3] = static_cast<float>(crossing) / 4;
  x[4] = static_cast<float>(residents.on(server).size()) / 8;
  x[5] = range.size() == 0 ? 0 : static_cast<float>(free) / static_cast<float>(range.size());
}

void Encoder::up_server(std::uint32_t server) {
  const std::span<float> in = in_;
  const IndexRange sockets = shape_.hosts.children[server];
  for (std::uint32_t o = sockets.first; o < sockets.last; ++o) {
    const IndexRange islands = shape_.sockets.children[o];
    for (std::uint32_t m = islands.first; m < islands.last; ++m) {
      const IndexRange gpus = shape_.islands.children[m];
      for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
        net_.gpu.relu(std::span(state_.gpus).subspan(g * EncoderNet::kGpu, EncoderNet::kGpu),
                      row(gpus_, g));
      }
      mean(gpus_, gpus, in.first(W));
      constexpr std::size_t features = GraphShape::kIslandFeatures;
      std::copy_n(shape_.island_hardware.begin() + static_cast<std::ptrdiff_t>(m * features),
                  features, in.begin() + W);
      net_.island.relu(in.first(W + features), row(islands_, m));
    }
    mean(islands_, islands, in.first(W));
    net_.socket.relu(in.first(W), row(sockets_, o));
  }
  mean(sockets_, sockets, in.first(W));
  std::copy_n(state_.servers.begin() + std::ptrdiff_t{server} * EncoderNet::kServer,
              EncoderNet::kServer, in.begin() + W);
  net_.server.relu(in.first(W + EncoderNet::kServer), row(servers_, server));
}

void Encoder::up_tree(const GraphShape::Layer& layer, std::size_t hardware, std::uint32_t vertex,
                      const Rows& below, Rows& rows) {
  const std::span<float> in = in_;
  mean(below, layer.children[vertex], in.first(W));
  constexpr std::size_t features = GraphShape::kTree;
  std::copy_n(
      shape_.tree_hardware.begin() + static_cast<std::ptrdiff_t>((hardware + vertex) * features),
      features, in.begin() + W);
  net_.tree.relu(in.first(W + features), row(rows, vertex));
}

std::span<const float> Encoder::rack_context(std::uint32_t rack) {
  const std::span<float> in = in_;
  if (rack_inside_.at[rack] == version_ || !net_.data_center) return row(rack_inside_.rows, rack);
  rack_inside_.at[rack] = version_;
  const std::uint32_t pod = shape_.racks.parent[rack];
  if (pod_inside_.at[pod] != version_) {
    pod_inside_.at[pod] = version_;
    std::ranges::copy(row(pods_, pod), in.begin());
    std::ranges::copy(row(root_, 0), in.begin() + W);
    net_.inside.relu(in.first(2 * W), row(pod_inside_.rows, pod));
  }
  std::ranges::copy(row(racks_, rack), in.begin());
  std::ranges::copy(row(pod_inside_.rows, pod), in.begin() + W);
  net_.inside.relu(in.first(2 * W), row(rack_inside_.rows, rack));
  return row(rack_inside_.rows, rack);
}

std::span<const float> Encoder::server_context(std::uint32_t server) {
  if (places_.at[server] != version_) {
    places_.at[server] = version_;
    const auto above = rack_context(shape_.hosts.parent[server]);
    const std::span<float> in = in_;
    std::ranges::copy(row(servers_, server), in.begin());
    std::ranges::copy(above, in.begin() + W);
    net_.place.relu(in.first(2 * W), row(places_.rows, server));
  }
  return row(places_.rows, server);
}

std::span<const float> Encoder::group_context(std::uint32_t island) {
  if (groups_.at[island] != version_) {
    groups_.at[island] = version_;
    const std::uint32_t socket = shape_.islands.parent[island];
    const auto around = server_context(shape_.sockets.parent[socket]);
    const std::span<float> in = in_;
    std::ranges::copy(row(islands_, island), in.begin());
    std::ranges::copy(row(sockets_, socket), in.begin() + W);
    std::ranges::copy(around, in.begin() + 2 * W);
    net_.group.relu(in, row(groups_.rows, island));
  }
  return row(groups_.rows, island);
}

void Encoder::place(const Topology& topology, const Placement& placement, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  std::uint32_t servers = 0, groups = 0, server = ~0U, group = ~0U;
  for (const GpuId gpu : placement) {
    if (!shape_.gpus.contains(gpu.value)) continue;
    const std::uint32_t g = gpu.value - shape_.gpus.first;
    if (const std::uint32_t i = shape_.island_of[g]; i != group) {
      group = i;
      ++groups;
      const auto context = group_context(i);
      for (std::size_t k = 0; k < W; ++k) out[W + k] += context[k];
    }
    if (const std::uint32_t s = topology.server_of(gpu).value - shape_.servers.first; s != server) {
      server = s;
      ++servers;
      const auto context = server_context(s);
      for (std::size_t k = 0; k < W; ++k) out[k] += context[k];
    }
  }
  if (servers == 0) return;
  for (std::size_t k = 0; k < W; ++k) out[k] /= static_cast<float>(servers);
  for (std::size_t k = W; k < 2 * W; ++k) out[k] /= static_cast<float>(groups);
}

}  // namespace starling
