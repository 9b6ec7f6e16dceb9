// SPDX-License-Identifier: Apache-2.0
#include "interference/flows/gang_flows.h"

#include <algorithm>

#include "base/hash.h"

namespace starling {

void GangFlows::collect_exits(const Placement& placement) {
  servers_.clear();
  exits_.clear();
  std::uint32_t domain = Topology::kNoDomain;
  for (const GpuId gpu : placement) {
    const ServerId server = topology_.server_of(gpu);
    if (!servers_.empty() && servers_.back() == server.value) continue;
    const auto at = static_cast<std::uint32_t>(servers_.size());
    servers_.push_back(server.value);
    const std::uint32_t its = topology_.domain_of(server);
    if (exits_.empty() || its == Topology::kNoDomain || its != domain) {
      exits_.push_back({at, at + 1});
    } else {
      exits_.back().last = at + 1;
    }
    domain = its;
  }
}

void GangFlows::connect(JobId job, const Exit& from, const Exit& to, double weight,
                        std::vector<LinkUse>& out) {
  const std::uint32_t sending = from.last - from.first;
  const std::uint32_t receiving = to.last - to.first;
  const std::uint32_t pairs = std::max(sending, receiving);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const std::uint32_t a = servers_[from.first + i % sending];
    const std::uint32_t b = servers_[to.first + i % receiving];
    const std::uint32_t ports = routes_.ports(ServerId(a), ServerId(b));
    for (std::uint32_t port = 0; port < ports; ++port) {
      TraceHash hash;
      for (const std::uint64_t word : {job.hi, job.lo, std::uint64_t{a}, std::uint64_t{b}})
        hash.add(word);
      hash.add(port);
      route_.clear();
      routes_.append(ServerId(a), ServerId(b), port, hash.value(), route_);
      for (const LinkDirection link : route_) out.push_back({link, weight / pairs / ports});
    }
  }
}

void GangFlows::find(JobId job, const Placement& placement, bool parameter_servers,
                     std::vector<LinkUse>& out) {
  out.clear();
  collect_exits(placement);
  const std::size_t n = exits_.size();
  if (n < 2) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (!parameter_servers) {
      connect(job, exits_[i], exits_[(i + 1) % n], 1, out);
      continue;
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) connect(job, exits_[i], exits_[j], 1.0 / static_cast<double>(n - 1), out);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.link < b.link; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].link == out[i].link) {
      out[kept - 1].weight += out[i].weight;
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
}

}  // namespace starling
