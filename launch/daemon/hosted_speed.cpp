// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/hosted_speed.h"

#include <utility>

#include "interference/models.h"
#include "interference/models/learned_speed.h"
#include "interference/models/speed_choice.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/plain_file.h"

namespace starling {
namespace {

/// As the flock says; the choice was checked when the flock was made, its file may have changed.
std::unique_ptr<SpeedModel> chosen(const Deployment& deployment, const Topology& topology,
                                   const Physics& physics) {
  if (deployment.speed.empty())
    return deployment.full_physics() ? make_analytic_speed(topology) : make_flat_speed();
  auto made = [&]() -> Result<std::unique_ptr<SpeedModel>> {
    const auto choice = parse_speed(deployment.speed);
    if (!choice) return choice.error();
    return make_speed(choice.value(), topology, &physics);
  }();
  return made ? std::move(made).value() : make_fallback_speed(topology, made.error().message);
}

}  // namespace

HostedSpeed::HostedSpeed(const Deployment& deployment, const Topology& topology,
                         std::filesystem::path file, std::string prefix)
    : file_(std::move(file)),
      prefix_(std::move(prefix)),
      physics_(make_full_physics(topology, {.goodput = deployment.goodput()})),
      model_(chosen(deployment, topology, *physics_)) {
  const auto choice = parse_speed(deployment.speed);
  learns_ = choice && choice.value().kind == SpeedKind::learned && !choice.value().frozen;
  const SpeedHealth health = model_->health();
  if (!health.trouble.empty())
    log_error(prefix_ + "speeds are told by the analytic model: " + health.trouble);
  if (!learns_) return;
  const auto text = read_plain(file_);
  if (!text) return;  // nothing was learned yet
  if (const Status taken = model_->restore(std::as_bytes(std::span(text.value()))); !taken.ok()) {
    log_error(prefix_ + file_.string() + ": " + taken.error().message + "; learning anew");
  } else if (const SpeedHealth now = model_->health(); now.observed > 0) {
    drifts_ = now.drifts;
    log_info(prefix_ + "the speed model goes on from " + std::to_string(now.observed) +
             " measured speeds");
  }
}

void HostedSpeed::keep(std::span<const std::byte> state) {
  if (state.empty()) return;
  const Status written = write_text(
      file_, std::string(reinterpret_cast<const char*>(state.data()), state.size()), 0600);
  if (kept_ && !written.ok())
    log_error(prefix_ + "what the speed model learns is not kept: " + written.error().message);
  kept_ = written.ok();
}

void HostedSpeed::say() {
  const SpeedHealth health = model_->health();
  if (std::exchange(drifts_, health.drifts) < health.drifts)
    log_info(prefix_ + "speed model: " + health.trouble);
  if (health.fallbacks > 0 && !std::exchange(fell_back_, true))
    log_error(prefix_ +
              "the analytic model answers in the place of the learned one: " + health.trouble);
}

}  // namespace starling
