// SPDX-License-Identifier: Apache-2.0
#include "interference/flows/coupled_gangs.h"

#include <algorithm>
#include <limits>

#include "interference/sync.h"

namespace starling {
namespace {

std::vector<double> capacities_of(const Topology& topology) {
  std::vector<double> bytes_per_s;
  for (const NetworkLink& link : topology.network_links())
    bytes_per_s.insert(bytes_per_s.end(), 2, std::max(link.gbps, 1e-3) * 1e9 / 8 * kNetworkShare);
  return bytes_per_s;
}

}  // namespace

CoupledGangs::CoupledGangs(const IterationForm& form, LinkDemand demand)
    : form_(form),
      demand_(demand),
      capacities_(capacities_of(form.topology())),
      flows_(form.topology()),
      rates_(capacities_) {}

void CoupledGangs::join(std::uint32_t gang, JobId job, const JobProfile& profile,
                        const Placement& placement) {
  moved_ = false;
  if (form_.topology().tier_of(placement) != Tier::network) return;
  flows_.find(job, placement, profile.parameter_servers > 0, uses_);
  if (uses_.empty()) return;
  double limit = std::numeric_limits<double>::infinity();
  for (const LinkUse& use : uses_) limit = std::min(limit, capacities_[use.link] / use.weight);
  const IterationForm::Exchange alone = form_.exchange_alone(profile, placement, limit);
  if (alone.bytes <= 0) return;
  moved_ = true;
  if (gang >= gangs_.size()) gangs_.resize(gang + 1);
  gangs_[gang] = {alone.bytes, {alone.bytes_per_s, 0, 0}};
  rates_.add(gang, alone.bytes / (demand_ == LinkDemand::peak ? alone.sync_s : alone.iteration_s),
             uses_);
  update(gang);
  for (const std::uint32_t other : rates_.changed()) update(other);
}

void CoupledGangs::leave(std::uint32_t gang) {
  moved_ = rates_.contains(gang);
  if (!moved_) return;
  rates_.remove(gang);
  for (const std::uint32_t other : rates_.changed()) update(other);
}

void CoupledGangs::update(std::uint32_t gang) {
  const double rate = rates_.rate(gang);
  const double least_s = rate < rates_.demand(gang) ? gangs_[gang].bytes / rate : 0;
  NetworkShare& share = gangs_[gang].share;
  (demand_ == LinkDemand::peak ? share.sync_s : share.step_s) = least_s;
}

std::span<const std::uint32_t> CoupledGangs::changed() const noexcept {
  return moved_ ? rates_.changed() : std::span<const std::uint32_t>{};
}

std::vector<double> CoupledGangs::loads() const {
  std::vector<double> parts(rates_.links());
  for (std::uint32_t link = 0; link < parts.size(); ++link) parts[link] = rates_.load(link);
  return parts;
}

const NetworkShare* CoupledGangs::share(std::uint32_t gang) const noexcept {
  return rates_.contains(gang) ? &gangs_[gang].share : nullptr;
}

}  // namespace starling
