// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/measured_contention.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "interference/sharing.h"
#include "workload/catalogue.h"
#include "workload/gavel_throughput.h"

namespace starling {
namespace {

constexpr std::array kKinds = {GpuKind::k80, GpuKind::p100, GpuKind::v100, GpuKind::h100};
constexpr std::string_view kCampaign = "2020";

std::size_t index(const GavelJobType* type) {
  return static_cast<std::size_t>(type - gavel_job_types().data());
}

}  // namespace

MeasuredContention::MeasuredContention(const PairData& data, const std::string& campaign)
    : types_(gavel_job_types().size()), speeds_(kKinds.size() * types_ * types_) {
  for (const PairRow& row : data.rows) {
    const std::string& set = data.sets[row.set];
    if (!set.starts_with(campaign + "/")) continue;
    const auto kind =
        std::find(kKinds.begin(), kKinds.end(), gpu_kind(set.substr(campaign.size() + 1)));
    const GavelJobType* own = gavel_job_type(data.types[row.victim].name);
    const GavelJobType* other = gavel_job_type(data.types[row.other].name);
    if (kind == kKinds.end() || own == nullptr || other == nullptr) continue;
    speeds_[at(static_cast<std::size_t>(kind - kKinds.begin()), index(own), index(other))] =
        std::clamp(static_cast<double>(row.speed), kSlowest, 1.0);
  }
}

double MeasuredContention::measured(std::int16_t own, std::int16_t other,
                                    GpuKind kind) const noexcept {
  const auto found = std::find(kKinds.begin(), kKinds.end(), kind);
  if (found == kKinds.end() || own < 0 || other < 0) return 0;
  return speeds_[at(static_cast<std::size_t>(found - kKinds.begin()), static_cast<std::size_t>(own),
                    static_cast<std::size_t>(other))];
}

double MeasuredContention::on_gpu(const ModelProfile& own,
                                  std::span<const ModelProfile* const> others,
                                  GpuKind kind) const noexcept {
  double cost = 0;
  for (const ModelProfile* other : others) {
    const double speed = measured(own.gavel_type, other->gavel_type, kind);
    cost += 1 / (speed > 0 ? speed : sharing_speed(own, *other, kind)) - 1;
  }
  return cost;
}

double MeasuredContention::on_host(const ModelProfile& own, double ratio) const noexcept {
  return fitted_contention().on_host(own, ratio);
}

bool MeasuredContention::measures(const Topology& topology, const Trace& jobs) const {
  std::set<std::int16_t> types;
  for (const TraceJob& job : jobs.jobs) types.insert(model_profile(job.spec.model).gavel_type);
  for (const GpuType& gpu : topology.gpu_types()) {
    for (const std::int16_t own : types) {
      for (const std::int16_t other : types) {
        if (measured(own, other, gpu_kind(gpu.name)) > 0) return true;
      }
    }
  }
  return false;
}

Error measures_nothing(const std::string& pairs) {
  return {Errc::invalid, "pairs=" + pairs +
                             ": no two models of these jobs were measured together on a GPU type "
                             "that is there; leave pairs= out, or give a campaign of such pairs"};
}

Result<std::shared_ptr<const MeasuredContention>> read_measured_contention(
    const std::string& pairs) {
  std::string file = pairs, campaign(kCampaign);
  std::error_code ignored;
  if (const std::size_t at = pairs.rfind('@');
      at != std::string::npos && !std::filesystem::exists(pairs, ignored)) {
    file = pairs.substr(0, at);
    campaign = pairs.substr(at + 1);
  }
  if (file.empty())
    return Error{Errc::invalid, "'" + pairs + "' lacks the file; write FILE or FILE@CAMPAIGN"};
  const auto data = read_pairs(file);
  if (!data) return data.error();
  if (data.value().source != PairSource::gavel)
    return Error{Errc::invalid, file + ": these are not Gavel's pairs; give gavel/colocated.csv"};
  std::set<std::string> campaigns;
  for (const std::string& set : data.value().sets) campaigns.insert(set.substr(0, set.find('/')));
  if (!campaigns.contains(campaign)) {
    std::string there;
    for (const std::string& name : campaigns) there += (there.empty() ? "" : ", ") + name;
    return Error{Errc::invalid, file + ": it has no campaign '" + campaign +
                                    "'; write FILE@CAMPAIGN "
                                    "with one of: " +
                                    there};
  }
  return std::make_shared<const MeasuredContention>(data.value(), campaign);
}

}  // namespace starling
