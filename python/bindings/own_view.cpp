// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/own_view.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <stdexcept>

#include "topology/shape.h"

namespace py = pybind11;

namespace starling {
namespace {

Placement placement_of(std::vector<std::uint32_t> gpus) {
  std::ranges::sort(gpus);
  Placement out;
  for (const std::uint32_t gpu : gpus) out.emplace_back(gpu);
  return out;
}

std::vector<std::uint32_t> numbers(const Placement& placement) {
  std::vector<std::uint32_t> out;
  for (const GpuId gpu : placement) out.push_back(gpu.value);
  return out;
}

template <class Of>
auto of_job(Of of) {
  return [of](const OwnJob& self) { return of(self.seen()); };
}

py::list others_of(const OwnView& self) {
  py::list out;
  for (const RemoteDigest& digest : self.seen().others) {
    py::dict one;
    one["agent"] = digest.agent.value;
    one["gpus"] = digest.gpus;
    one["free"] = digest.free;
    one["largest_free_server"] = digest.largest_free_server;
    one["waiting"] = digest.waiting;
    one["waiting_gpus"] = digest.waiting_gpus;
    one["heard_s"] = seconds(digest.at.time_since_epoch());
    out.append(one);
  }
  return out;
}

void bind_own_job(py::module_& module) {
  py::class_<OwnJob>(module, "Job", "A job as a policy sees it, during decide().")
      .def_property_readonly("id", of_job([](const JobView& j) { return to_string(j.spec->id); }))
      .def_property_readonly("name", of_job([](const JobView& j) { return j.spec->name; }))
      .def_property_readonly("user", of_job([](const JobView& j) { return j.spec->user; }))
      .def_property_readonly("queue", of_job([](const JobView& j) { return j.spec->queue; }))
      .def_property_readonly("model", of_job([](const JobView& j) { return j.spec->model; }))
      .def_property_readonly("gpus", of_job([](const JobView& j) { return j.spec->gpus(); }),
                             "That it asks for.")
      .def_property_readonly("workers", of_job([](const JobView& j) { return j.spec->workers; }))
      .def_property_readonly("gpus_per_worker",
                             of_job([](const JobView& j) { return j.spec->gpus_per_worker; }))
      .def_property_readonly("priority", of_job([](const JobView& j) { return j.spec->priority; }))
      .def_property_readonly(
          "duration_s", of_job([](const JobView& j) { return seconds(j.spec->duration); }),
          "What the policy may know of it, s: exact, noisy, or 0 (unknown), as durations= says.")
      .def_property_readonly("submitted_s", of_job([](const JobView& j) {
                               return seconds(j.submitted.time_since_epoch());
                             }))
      .def_property_readonly("served_s", of_job([](const JobView& j) { return seconds(j.served); }),
                             "Time that it has run so far.")
      .def_property_readonly("done_s", of_job([](const JobView& j) { return seconds(j.done); }),
                             "Measured work, as time alone on its best placement.")
      .def_property_readonly("pace", of_job([](const JobView& j) { return j.pace; }),
                             "Measured: work per time; 0: not measured.")
      .def_property_readonly("restarts", of_job([](const JobView& j) { return j.restarts; }))
      .def_property_readonly("forwards", of_job([](const JobView& j) { return j.forwards; }))
      .def_property_readonly("blocked", of_job([](const JobView& j) { return j.blocked; }),
                             "Something is under way: leave it alone.")
      .def_property_readonly("placement",
                             of_job([](const JobView& j) { return numbers(j.placement); }),
                             "Its GPUs, if it runs.");
}

}  // namespace

const View& OwnCall::seen() const {
  if (view == nullptr)
    throw std::runtime_error("a view and its jobs can be looked at during decide() only");
  return *view;
}

std::vector<OwnJob> OwnView::jobs(std::span<const JobView> all) const {
  std::vector<OwnJob> out;
  out.reserve(all.size());
  for (const JobView& job : all) out.push_back({call_, &job});
  return out;
}

std::optional<std::vector<std::uint32_t>> OwnView::place(const OwnJob& job,
                                                         const std::string& fit) const {
  if (fit != "node" && fit != "count")
    throw py::value_error("fit: '" + fit + "' is wrong; give node or count");
  const JobSpec& spec = *job.seen().spec;
  Trial& trial = *call_->trial;
  const auto found = starling::place(trial.gpus(), shape_for(trial.gpus(), spec), spec,
                                     fit == "node" ? Fit::server : Fit::count);
  if (!found) return std::nullopt;
  trial.take(*found, demand_of(spec));
  return numbers(*found);
}

std::vector<std::uint32_t> OwnView::free() const {
  std::vector<std::uint32_t> out;
  const Occupancy& gpus = (seen(), call_->trial->gpus());
  for (std::uint32_t gpu = gpus.gpus().first; gpu < gpus.gpus().last; ++gpu)
    if (gpus.is_free(GpuId{gpu})) out.push_back(gpu);
  return out;
}

void bind_own_view(py::module_& module) {
  bind_own_job(module);
  py::class_<OwnView>(module, "View", "What decide() may see: one partition, its jobs, and hints.")
      .def_property_readonly(
          "now_s", [](const OwnView& self) { return seconds(self.seen().now.time_since_epoch()); })
      .def_property_readonly("agent", [](const OwnView& self) { return self.seen().me.value; })
      .def_property_readonly("topology", [](const OwnView& self) { return self.seen().topology; })
      .def_property_readonly("waiting", &OwnView::waiting, "list of Job, in arrival order.")
      .def_property_readonly("running", &OwnView::running,
                             "list of Job, in start order; filled in if the policy says "
                             "preemptive, elastic or needs_running.")
      .def_property_readonly("others", &others_of,
                             "A dict for each other agent: what it said of its partition last.")
      .def_property_readonly("free_gpus", &OwnView::free_gpus)
      .def_property_readonly("free", &OwnView::free,
                             "list of int: the free GPUs of the partition, ascending.")
      .def("place", &OwnView::place, py::arg("job"), py::arg("fit") = "node",
           "GPUs for the job, of those that this call has not promised yet, and promises them; "
           "None if there is no room. node: within one server, or on whole ones; count: anywhere.");
  py::class_<OwnDecision>(module, "Decision");
  module.def(
      "Start",
      [](const OwnJob& job, std::vector<std::uint32_t> gpus) {
        return OwnDecision{Start{job.seen().spec->id, placement_of(std::move(gpus))}};
      },
      py::arg("job"), py::arg("gpus"));
  module.def(
      "Resize",
      [](const OwnJob& job, std::vector<std::uint32_t> gpus) {
        return OwnDecision{Resize{job.seen().spec->id, placement_of(std::move(gpus))}};
      },
      py::arg("job"), py::arg("gpus"), "Checkpoint, stop, start on these GPUs.");
  module.def(
      "Preempt", [](const OwnJob& job) { return OwnDecision{Preempt{job.seen().spec->id}}; },
      py::arg("job"), "Checkpoint, stop, wait again.");
  module.def(
      "Forward",
      [](const OwnJob& job, std::uint32_t agent) {
        return OwnDecision{Forward{job.seen().spec->id, AgentId{agent}}};
      },
      py::arg("job"), py::arg("agent"), "Give the job another home.");
}

}  // namespace starling
