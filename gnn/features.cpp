// SPDX-License-Identifier: Apache-2.0
#include "gnn/features.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "interference/gpu_speed.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

float log_s(double seconds) { return static_cast<float>(std::log1p(std::max(seconds, 0.0)) / 12); }
float part(double some, double all) { return all <= 0 ? 0 : static_cast<float>(some / all); }
float log2_5(double count) { return static_cast<float>(std::log2(std::max(count, 1.0)) / 5); }

/// Those who share a GPU with the option: the one of them that has the largest gang stands for all,
/// but for what they have run and what they have left.
struct Sharers {
  double served = 0, left = 0, gpus = 0;
};

Sharers sharers(const DecisionPoint& point, const Candidate& option) {
  const View& view = point.view;
  Sharers all;
  for (const Candidate::Loss& loss : option.losses) {
    if (!loss.shares) continue;
    const Resident& other = point.candidates.residents().at(loss.slot);
    all.served = std::max(all.served, seconds(other.served) + seconds(view.now - other.seen));
    all.left = std::max(all.left, point.remaining.left(other, view.now));
    all.gpus = std::max(all.gpus, static_cast<double>(other.self.job.gpus));
  }
  return all;
}

}  // namespace

void option_features(const DecisionPoint& point, double alone, const Candidate* option,
                     std::span<float> out) {
  STARLING_CHECK(out.size() == Features::kOption);
  std::fill(out.begin(), out.end(), 0.0F);
  if (option == nullptr) {
    out[0] = 1;
    return;
  }
  const Candidate& c = *option;
  const double gpus = point.wish.gpus, scale = static_cast<double>(kGpu);
  const double net = part(static_cast<double>(c.gain) / scale, gpus * alone);
  out[1] = part(c.own, alone);
  out[2] = part(c.apart, alone);
  out[3] = static_cast<float>(std::clamp(net, -4.0, 1.0));
  out[4] = static_cast<float>(std::clamp(Features::kMinimumGain - net, 0.0, 4.0));
  out[5] = static_cast<float>(std::log1p(std::max(0.0, static_cast<double>(c.slowdown) / scale)));
  out[6] = static_cast<float>(std::min(4.0, static_cast<double>(c.harm()) / scale / gpus));
  double slowest = 1;
  for (const Candidate::Loss& loss : c.losses) slowest = std::min(slowest, loss.after);
  out[7] = static_cast<float>(slowest);
  out[8 + static_cast<std::size_t>(c.kind)] = 1;

  const View& view = point.view;
  const Topology& topology = view.topology;
  double servers = 0, left_over = 0, fastest = 0;
  ServerId last{~0U};
  for (const GpuId gpu : c.placement) {
    const ServerId server = topology.server_of(gpu);
    if (server == last) continue;
    last = server;
    ++servers;
    if (view.gpus.servers().contains(server.value))
      left_over += point.candidates.free().free_on(server.value - view.gpus.servers().first);
  }
  if (!c.shares()) left_over -= gpus;
  out[13] = log2_5(servers);
  out[14] = topology.rack_of(topology.server_of(c.placement.front())) !=
                    topology.rack_of(topology.server_of(c.placement.back()))
                ? 1.0F
                : 0.0F;
  if (c.shares()) {
    const Sharers others = sharers(point, c);
    out[15] = log_s(others.served);
    out[16] = log_s(others.left);
    out[17] = log2_5(others.gpus);
    out[18] = static_cast<float>(std::min(2.0, others.gpus / gpus));
  }
  out[19] = static_cast<float>(std::clamp(left_over / servers / 8, 0.0, 2.0));
  out[20] = left_over <= 0 ? 1.0F : 0.0F;
  for (const GpuType& type : topology.gpu_types())
    fastest = std::max(fastest, gpu_speed_factor(type.name));
  out[21] =
      part(gpu_speed_factor(topology.gpu_types()[topology.type_of(c.placement.front()).value].name),
           fastest);
  out[22] = static_cast<float>(std::min(1.0, alone));
}

void situation_features(const DecisionPoint& point, const QueueView& queue, std::span<float> out) {
  STARLING_CHECK(out.size() == Features::kSituation);
  const View& view = point.view;
  const JobView& job = point.job;
  Candidates& candidates = point.candidates;
  const double gpus = view.gpus.gpus().size();
  std::uint32_t free = 0;
  for (std::uint32_t kind = candidates.free().kinds() > 1 ? 1 : 0; kind < candidates.free().kinds();
       ++kind)
    free += candidates.free().free_count(kind);
  const ModelProfile& model = model_profile(job.spec->model);
  out[0] = log2_5(point.wish.gpus);
  out[1] = std::min(1.0F, part(point.wish.gpus, gpus));
  out[2] = log_s(seconds(view.now - job.submitted));
  out[3] = log_s(seconds(job.served));
  out[4] = static_cast<float>(std::log1p(static_cast<double>(queue.jobs)) / 6);
  out[5] = static_cast<float>(std::log1p(part(queue.gpus, gpus)));
  out[6] = static_cast<float>(std::log1p(part(queue.ahead, gpus)));
  out[7] = part(free, gpus);
  out[8] = part(static_cast<double>(candidates.residents().count()), gpus);
  out[9] = part(view.gpus.busy_count(), gpus);
  out[10] = log_s(point.remaining.left(job, view.now));
  out[11] = job.spec->duration > Duration::zero() ? 1.0F : 0.0F;
  out[12] = static_cast<float>(model.gpu_utilization);
  out[13] = static_cast<float>(std::log10(1 + model.gradient_mib / model.iteration_s) / 4);
  out[14] = candidates.free().kinds() > 1 ? 1.0F : 0.0F;
  out[15] = static_cast<float>(queue.smaller);
}

void forward_features(const JobView& job, const Destination& to, double best, double queue,
                      std::span<float> out) {
  STARLING_CHECK(out.size() == Features::kForward);
  out[0] = 1;
  out[1] = part(to.speed, best);
  out[2] = to.starts ? 1.0F : 0.0F;
  out[3] = to.one_server ? 1.0F : 0.0F;
  out[4] = static_cast<float>(to.free);
  out[5] = static_cast<float>(to.open);
  out[6] = static_cast<float>(std::log1p(to.queue));
  out[7] = static_cast<float>(std::log1p(to.queue) - std::log1p(queue));
  out[8] = log2_5(1.0 + job.forwards);
  out[Features::kRuleFaster] = out[Features::kRuleWaits] = 0;
}

void crossed_features(std::span<const float> situation, std::span<const float> option,
                      std::span<float> out) {
  STARLING_CHECK(out.size() == Features::kCrossed);
  const float wait = option[0], wanted = situation[5], left = situation[10];
  std::size_t i = 0;
  for (const std::size_t k : {5U, 7U, 0U, 2U, 15U, 10U}) out[i++] = wait * situation[k];
  const float shares = option[8 + static_cast<std::size_t>(CandidateKind::beside)] +
                       option[8 + static_cast<std::size_t>(CandidateKind::server)];
  for (const float with : {wanted, left}) {
    for (const float value : {shares, option[3], option[6], option[21]}) out[i++] = value * with;
  }
}

}  // namespace starling
