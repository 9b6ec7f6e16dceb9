// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "python/bindings/columns.h"
#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "python/bindings/simulation.h"
#include "sim/simulate.h"

namespace py = pybind11;

namespace starling {
namespace {

using Run = std::shared_ptr<RunResult>;

Run simulated(const Topology& topology, const Trace& trace, const py::object& progress,
              const py::kwargs& given) {
  const AskedRun asked = asked_run(given);
  RunInput input = value_of_input(make_run_input(asked.options, asked.policies, topology, trace));
  input.sim.progress = watching(progress);
  Result<RunResult> run = [&] {
    const py::gil_scoped_release others_may;
    return simulate(input.topology, input.trace, asked.policies, input.sim);
  }();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  RunResult result = value_of(std::move(run));
  result.load = asked.options.load;
  result.dropped = trace.dropped;
  return std::make_shared<RunResult>(std::move(result));
}

template <class Value>
auto number(Value JobRow::*field) {
  return [field](const py::object& self) {
    return column<Value>(
        self.cast<const RunResult&>().jobs,
        [field](const JobRow& row) -> const Value& { return row.*field; }, self);
  };
}

template <class Value>
auto point(Value TimePoint::*field) {
  return [field](const py::object& self) {
    return column<Value>(
        self.cast<const RunResult&>().timeline,
        [field](const TimePoint& at) -> const Value& { return at.*field; }, self);
  };
}

template <class Of>
auto words(Of of) {
  return [of](const RunResult& self) { return listed(self.jobs, of); };
}

py::dict figures_of(const RunResult& run) {
  const RunFigures f = figures(run);
  py::dict out;
  out["submitted"] = f.submitted;
  out["finished"] = f.finished;
  out["failed"] = f.failed;
  out["unfinished"] = f.unfinished;
  out["floor_jct_s"] = f.floor_jct_s;
  out["avg_jct_s"] = f.avg_jct_s;
  out["p50_jct_s"] = f.p50_jct_s;
  out["p90_jct_s"] = f.p90_jct_s;
  out["p99_jct_s"] = f.p99_jct_s;
  out["makespan_s"] = f.makespan_s;
  out["avg_queue_s"] = f.avg_queue_s;
  out["avg_slowdown"] = f.avg_slowdown;
  out["gpu_utilization"] = f.gpu_utilization;
  return out;
}

void bind_jobs(py::class_<RunResult, Run>& type) {
  type.def_property_readonly("submit_s", number(&JobRow::submit_s),
                             "float64 [jobs]: s since the start of the run; no copy, as all "
                             "number columns here.")
      .def_property_readonly("start_s", number(&JobRow::start_s),
                             "float64 [jobs]: first start; -1: never.")
      .def_property_readonly("finish_s", number(&JobRow::finish_s), "float64 [jobs]; -1: never.")
      .def_property_readonly("service_s", number(&JobRow::service_s),
                             "float64 [jobs]: time on GPUs, all attempts.")
      .def_property_readonly("duration_s", number(&JobRow::duration_s),
                             "float64 [jobs]: alone on the best placement, from the trace.")
      .def_property_readonly("gpus", number(&JobRow::gpus), "uint32 [jobs].")
      .def_property_readonly("agent", number(&JobRow::agent), "uint32 [jobs]: last home.")
      .def_property_readonly("attempts", number(&JobRow::attempts), "uint32 [jobs].")
      .def_property_readonly("preemptions_of_job", number(&JobRow::preemptions), "uint32 [jobs].")
      .def_property_readonly("forwards_of_job", number(&JobRow::forwards), "uint32 [jobs].")
      .def_property_readonly("job_ids", words([](const JobRow& row) { return to_string(row.job); }))
      .def_property_readonly("names", words([](const JobRow& row) { return row.name; }))
      .def_property_readonly("models", words([](const JobRow& row) { return row.model; }))
      .def_property_readonly("placements", words([](const JobRow& row) { return row.placement; }),
                             "str [jobs]: GPU ranges, '12-19' or '3,5-8'.")
      .def_property_readonly(
          "states", words([](const JobRow& row) { return std::string(name_of(row.state)); }))
      .def_property_readonly("timeline_s", point(&TimePoint::at_s),
                             "float64 [points]: when the two below change; no copy.")
      .def_property_readonly("timeline_busy_gpus", point(&TimePoint::busy_gpus), "uint32 [points].")
      .def_property_readonly("timeline_waiting", point(&TimePoint::waiting),
                             "uint32 [points]: jobs.");
}

}  // namespace

void bind_run(py::module_& module) {
  py::class_<RunResult, Run> type(
      module, "Run", "What a run gave. Columns are of jobs by submit time, then file order.");
  type.def_readonly("policy", &RunResult::policy)
      .def_readonly("topology", &RunResult::topology)
      .def_readonly("workload", &RunResult::workload)
      .def_readonly("agents", &RunResult::agents)
      .def_readonly("seed", &RunResult::seed)
      .def_readonly("preemptions", &RunResult::preemptions)
      .def_readonly("resizes", &RunResult::resizes)
      .def_readonly("forwards", &RunResult::forwards)
      .def_readonly("cross_partition_gangs", &RunResult::cross_partition_gangs)
      .def_readonly("decisions", &RunResult::decisions, "Calls of the policies.")
      .def_readonly("messages", &RunResult::messages)
      .def_readonly("events", &RunResult::events)
      .def_readonly("wall_s", &RunResult::wall_s)
      .def_readonly("trace_hash", &RunResult::trace_hash,
                    "Of everything that happened: equal runs have equal ones, also from `starling "
                    "sim`.")
      .def_property_readonly("figures", &figures_of,
                             "dict: the figures of summary.json (docs/experiments.md).")
      .def("__len__", [](const RunResult& self) { return self.jobs.size(); })
      .def("__repr__", [](const RunResult& self) {
        return "<starling.Run of " + self.policy + " on " + self.topology + ": " +
               std::to_string(self.jobs.size()) + " jobs>";
      });
  bind_jobs(type);
  module.def("simulate", &simulated, py::arg("topology"), py::arg("workload"),
             py::arg("progress") = py::none());
  module.def(
      "misfits",
      [](const Topology& topology, const Trace& trace) { return misfits(topology, trace); },
      py::arg("topology"), py::arg("workload"),
      "One message about the jobs that can never fit and so will fail; empty if there are none.");
}

}  // namespace starling
