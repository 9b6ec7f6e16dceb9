// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/server_change.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "topology/builder.h"

namespace starling {
namespace {

class NextBuilder {
 public:
  explicit NextBuilder(const Topology& now) : now_(now), builder_(now.name()) {
    for (const GpuType& type : now.gpu_types()) (void)builder_.gpu_type(type);
  }

  void add(ServerId like, Server server, std::uint32_t gpus) {
    const std::uint32_t rack = now_.rack_of(like);
    const std::uint32_t pod = now_.subtrees()[rack].parent;
    if (pod_ != pod) builder_.begin_pod(now_.subtrees()[pod].name);
    if (rack_ != rack) builder_.begin_rack(now_.subtrees()[rack].name);
    pod_ = pod;
    rack_ = rack;
    if (gpus != server.gpus.size()) server.gpu_speeds.clear();
    server.gpus_per_island = std::max(1U, std::min(server.gpus_per_island, gpus));
    builder_.add_server(std::move(server), gpus);
    ++servers_;
  }
  [[nodiscard]] std::uint32_t servers() const noexcept { return servers_; }
  [[nodiscard]] Topology build() && {
    return std::move(builder_).build(infer_plan(now_.parts()).value_or(NetworkPlan{}));
  }

 private:
  const Topology& now_;
  TopologyBuilder builder_;
  std::optional<std::uint32_t> pod_, rack_;  // of now_
  std::uint32_t servers_ = 0;
};

}  // namespace

NextServers next_servers(const Topology& now, std::span<const IndexRange> executors,
                         const ServerChange& change) {
  NextBuilder next(now);
  std::vector<IndexRange> ranges;
  for (std::uint32_t e = 0; e < executors.size(); ++e) {
    const std::uint32_t first = next.servers();
    const auto come = [&](bool at_front) {
      for (const ServerChange::New& server : change.come) {
        if (server.executor != e || server.first != at_front) continue;
        const ServerId like{at_front ? executors[e].first : executors[e].last - 1};
        Server made = now.server(like);
        made.name = server.name;
        next.add(like, std::move(made), server.gpus);
      }
    };
    if (executors[e].size() > 0) come(true);
    for (std::uint32_t s = executors[e].first; s < executors[e].last; ++s) {
      const Server& server = now.server(ServerId{s});
      if (change.leave.contains(server.name)) continue;
      const auto other = change.gpus.find(server.name);
      next.add(ServerId{s}, server,
               other == change.gpus.end() ? server.gpus.size() : other->second);
    }
    if (executors[e].size() > 0) come(false);
    ranges.push_back({first, next.servers()});
  }
  return {std::move(next).build(), std::move(ranges)};
}

}  // namespace starling
