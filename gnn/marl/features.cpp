// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/features.h"

#include <algorithm>
#include <cmath>

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

Input input_of(CandidateKind kind) {
  switch (kind) {
    case CandidateKind::tight:
      return Input::is_tight;
    case CandidateKind::rack:
      return Input::is_rack;
    case CandidateKind::spread:
      return Input::is_spread;
    case CandidateKind::beside:
      return Input::is_beside;
    case CandidateKind::server:
      return Input::is_server;
  }
  return Input::is_tight;
}

}  // namespace

void option_inputs(const DecisionPoint& point, double alone, const Candidate* option,
                   InputRow row) {
  row.set(Input::waits, option == nullptr);
  if (option == nullptr) return;
  const Candidate& c = *option;
  const double gpus = point.request.gpus, scale = static_cast<double>(kGpu);
  const double net = part(static_cast<double>(c.gain) / scale, gpus * alone);
  row[Input::own_speed] = part(c.own, alone);
  row[Input::unshared_speed] = part(c.unshared, alone);
  row[Input::net_gain] = static_cast<float>(std::clamp(net, -4.0, 1.0));
  row[Input::gain_lacking] = static_cast<float>(std::clamp(Features::kMinimumGain - net, 0.0, 4.0));
  row[Input::slowdown] =
      static_cast<float>(std::log1p(std::max(0.0, static_cast<double>(c.slowdown) / scale)));
  row[Input::inflicted_loss] =
      static_cast<float>(std::min(4.0, static_cast<double>(c.inflicted_loss()) / scale / gpus));
  double slowest = 1;
  for (const Candidate::Loss& loss : c.losses) slowest = std::min(slowest, loss.after);
  row[Input::slowest_other] = static_cast<float>(slowest);
  row[input_of(c.kind)] = 1;

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
  row[Input::servers] = log2_5(servers);
  row.set(Input::racks_differ, topology.rack_of(topology.server_of(c.placement.front())) !=
                                   topology.rack_of(topology.server_of(c.placement.back())));
  if (c.shares()) {
    const Sharers others = sharers(point, c);
    row[Input::sharer_served] = log_s(others.served);
    row[Input::sharer_left] = log_s(others.left);
    row[Input::sharer_gang] = log2_5(others.gpus);
    row[Input::sharer_size] = static_cast<float>(std::min(2.0, others.gpus / gpus));
  }
  row[Input::left_free] = static_cast<float>(std::clamp(left_over / servers / 8, 0.0, 2.0));
  row.set(Input::none_left, left_over <= 0);
  for (const GpuType& type : topology.gpu_types())
    fastest = std::max(fastest, gpu_speed_factor(type.name));
  row[Input::type_speed] =
      part(gpu_speed_factor(topology.gpu_types()[topology.type_of(c.placement.front()).value].name),
           fastest);
  row[Input::alone_speed] = static_cast<float>(std::min(1.0, alone));
}

void situation_inputs(const DecisionPoint& point, const QueueView& queue, InputRow row) {
  const View& view = point.view;
  const JobView& job = point.job;
  const FreeServers& servers = point.candidates.free();
  const double gpus = view.gpus.gpus().size();
  std::uint32_t free = 0;
  for (std::uint32_t kind = servers.kinds() > 1 ? 1 : 0; kind < servers.kinds(); ++kind)
    free += servers.free_count(kind);
  const ModelProfile& model = model_profile(job.spec->model);
  row[Input::gang] = log2_5(point.request.gpus);
  row[Input::gang_part] = std::min(1.0F, part(point.request.gpus, gpus));
  row[Input::waited] = log_s(seconds(view.now - job.submitted));
  row[Input::served] = log_s(seconds(job.served));
  row[Input::queue_jobs] = static_cast<float>(std::log1p(static_cast<double>(queue.jobs)) / 6);
  row[Input::queue_gpus] = static_cast<float>(std::log1p(part(queue.gpus, gpus)));
  row[Input::ahead_gpus] = static_cast<float>(std::log1p(part(queue.ahead, gpus)));
  row[Input::free_part] = part(free, gpus);
  row[Input::running_jobs] = part(static_cast<double>(point.candidates.residents().count()), gpus);
  row[Input::busy_part] = part(view.gpus.busy_count(), gpus);
  row[Input::work_left] = log_s(point.remaining.left(job, view.now));
  row.set(Input::work_estimated, job.spec->duration > Duration::zero());
  row[Input::gpu_use] = static_cast<float>(model.gpu_utilization);
  row[Input::gradient_rate] =
      static_cast<float>(std::log10(1 + model.gradient_mib / model.iteration_s) / 4);
  row.set(Input::types_differ, servers.kinds() > 1);
  row[Input::smaller_part] = static_cast<float>(queue.smaller);
}

void forward_inputs(const JobView& job, const Destination& to, double best, double queue,
                    InputRow row) {
  row[Input::goes] = 1;
  row[Input::there_speed] = part(to.speed, best);
  row.set(Input::there_starts, to.starts);
  row.set(Input::there_one_server, to.one_server);
  row[Input::there_free] = static_cast<float>(to.free);
  row[Input::there_open] = static_cast<float>(to.open);
  row[Input::there_queue] = static_cast<float>(std::log1p(to.queue));
  row[Input::queue_gap] = static_cast<float>(std::log1p(to.queue) - std::log1p(queue));
  row[Input::forwards] = log2_5(1.0 + job.forwards);
}

void crossed_inputs(InputRow row) {
  const float waits = row[Input::waits], left = row[Input::work_left];
  row[Input::waits_queue_gpus] = waits * row[Input::queue_gpus];
  row[Input::waits_free_part] = waits * row[Input::free_part];
  row[Input::waits_gang] = waits * row[Input::gang];
  row[Input::waits_waited] = waits * row[Input::waited];
  row[Input::waits_smaller_part] = waits * row[Input::smaller_part];
  row[Input::waits_work_left] = waits * left;
  const float shares = row[Input::is_beside] + row[Input::is_server];
  const float wanted = row[Input::queue_gpus];
  row[Input::shares_queue_gpus] = shares * wanted;
  row[Input::gain_queue_gpus] = row[Input::net_gain] * wanted;
  row[Input::inflicted_queue_gpus] = row[Input::inflicted_loss] * wanted;
  row[Input::type_queue_gpus] = row[Input::type_speed] * wanted;
  row[Input::shares_work_left] = shares * left;
  row[Input::gain_work_left] = row[Input::net_gain] * left;
  row[Input::inflicted_work_left] = row[Input::inflicted_loss] * left;
  row[Input::type_work_left] = row[Input::type_speed] * left;
}

}  // namespace starling
