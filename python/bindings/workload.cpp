// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>

#include "launch/runs/run_options.h"
#include "launch/system/text.h"
#include "python/bindings/columns.h"
#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "workload/generate/generate.h"
#include "workload/generate/generate_dl2.h"
#include "workload/generate/generate_gavel.h"
#include "workload/generate/generate_helios.h"
#include "workload/generate/scale_load.h"
#include "workload/generate/trace_kinds.h"
#include "workload/traces/trace_csv.h"

namespace py = pybind11;

namespace starling {
namespace {

using Jobs = std::shared_ptr<Trace>;

Jobs shared(Trace trace) { return std::make_shared<Trace>(std::move(trace)); }

Duration length_of(const std::string& text) {
  return text.empty() ? Duration{0} : value_of_input(parse_duration(text));
}

Jobs read(const std::string& path, const std::string& format, std::uint32_t jobs,
          const std::string& from, const std::string& length, double arrival_speed) {
  TraceOptions options;
  options.format = format;
  options.max_jobs = jobs;
  options.load = arrival_speed;
  options.from = length_of(from);
  options.length = length_of(length);
  return shared(value_of_input(read_trace(path, options)));
}

/// Zeros stand for what the kind says itself.
Jobs drawn(const std::string& kind, std::uint32_t jobs, std::uint32_t gpus, double load,
           double mean_duration_s, double max_duration_s, double jobs_per_hour,
           std::uint64_t seed) {
  if (kind == "philly-like") {
    TraceGeneratorOptions o{.load = load, .mean_duration_s = mean_duration_s, .seed = seed};
    if (jobs > 0) o.jobs = jobs;
    if (gpus > 0) o.cluster_gpus = gpus;
    if (max_duration_s > 0) o.max_duration_s = max_duration_s;
    return shared(value_of_input(generate_trace(o)));
  }
  if (kind == "helios-like") {
    HeliosGeneratorOptions o{.load = load, .seed = seed};
    if (jobs > 0) o.jobs = jobs;
    if (gpus > 0) o.cluster_gpus = gpus;
    if (max_duration_s > 0) o.max_duration_s = max_duration_s;
    return shared(value_of_input(generate_helios_trace(o)));
  }
  if (kind == "gavel-continuous" || kind == "gavel-static") {
    GavelGeneratorOptions o;
    if (jobs > 0) o.jobs = jobs;
    o.jobs_per_hour = kind == "gavel-static" ? 0 : jobs_per_hour;
    o.seed = seed;
    return shared(value_of_input(generate_gavel_trace(o)));
  }
  if (kind == "dl2-like") {
    Dl2GeneratorOptions o;
    if (jobs > 0) o.jobs = jobs;
    o.seed = seed;
    return shared(value_of_input(generate_dl2_trace(o)));
  }
  const std::vector<std::string> kinds(kTraceKinds.begin(), kTraceKinds.end());
  raise({Errc::invalid, "there is no kind '" + kind + "'; give " + joined(kinds, ", ")});
}

template <class Value, class Of>
auto number(Of of) {
  return [of](const py::object& self) {
    return column<Value>(self.cast<const Trace&>().jobs, of, self);
  };
}
/// A time within a row, as the nanoseconds that it is.
template <Duration TraceJob::*Field>
const std::int64_t& nanoseconds(const TraceJob& job) {
  static_assert(sizeof(Duration) == sizeof(std::int64_t));
  return reinterpret_cast<const std::int64_t&>(job.*Field);
}
const std::int64_t& duration_ns(const TraceJob& job) {
  return reinterpret_cast<const std::int64_t&>(job.spec.duration);
}

template <class Of>
auto words(Of of) {
  return [of](const Trace& self) { return listed(self.jobs, of); };
}

void bind_columns(py::class_<Trace, Jobs>& type) {
  type.def_property_readonly("names", words([](const TraceJob& job) { return job.spec.name; }),
                             "str, one a job, by submit time as all columns here.")
      .def_property_readonly("models", words([](const TraceJob& job) { return job.spec.model; }))
      .def_property_readonly("users", words([](const TraceJob& job) { return job.spec.user; }))
      .def_property_readonly("queues", words([](const TraceJob& job) { return job.spec.queue; }))
      .def_property_readonly("submit_ns", number<std::int64_t>(nanoseconds<&TraceJob::submit>),
                             "int64 [jobs]: nanoseconds from the start of the trace; no copy.")
      .def_property_readonly("duration_ns", number<std::int64_t>(duration_ns),
                             "int64 [jobs]: alone on its best placement, nanoseconds; no copy.")
      .def_property_readonly("workers",
                             number<std::uint32_t>([](const TraceJob& job) -> const std::uint32_t& {
                               return job.spec.workers;
                             }),
                             "uint32 [jobs]; no copy.")
      .def_property_readonly("gpus_per_worker",
                             number<std::uint32_t>([](const TraceJob& job) -> const std::uint32_t& {
                               return job.spec.gpus_per_worker;
                             }),
                             "uint32 [jobs]; no copy.")
      .def_property_readonly("priority",
                             number<std::int32_t>([](const TraceJob& job) -> const std::int32_t& {
                               return job.spec.priority;
                             }),
                             "int32 [jobs]; no copy.");
}

}  // namespace

void bind_workload(py::module_& module) {
  py::class_<Trace, Jobs> type(module, "Workload", "Jobs with submit times. Constant.");
  type.def_static("read", &read, py::arg("path"), py::arg("format") = "", py::arg("jobs") = 0,
                  py::arg("from_") = "", py::arg("length") = "", py::arg("arrival_speed") = 1.0,
                  "Reads a trace file, or a part of it: at most `jobs`, those submitted within "
                  "`length` from `from_` on ('36h', '7d'); submit times are divided by "
                  "arrival_speed. The format is told from the header unless it is given.")
      .def_static("generate", &drawn, py::arg("kind") = "philly-like", py::kw_only(),
                  py::arg("jobs") = 0, py::arg("gpus") = 0, py::arg("load") = 0.8,
                  py::arg("mean_duration_s") = 0.0, py::arg("max_duration_s") = 0.0,
                  py::arg("jobs_per_hour") = GavelGeneratorOptions{}.jobs_per_hour,
                  py::arg("seed") = 1,
                  "Draws one: philly-like, helios-like, gavel-continuous, gavel-static or "
                  "dl2-like. `load` is GPU time submitted per second over `gpus`. 0: what the "
                  "kind says itself. Same arguments, same jobs.")
      .def(
          "scaled",
          [](const Trace& self, std::uint32_t gpus, double load) {
            Trace copy = self;
            value_of_input(scale_to_load(copy, gpus, load));
            return shared(std::move(copy));
          },
          py::arg("gpus"), py::arg("load"),
          "The same jobs with submissions moved apart or together, until the GPU time submitted "
          "per second is `load` times `gpus`.")
      .def(
          "save",
          [](const Trace& self, const std::string& path) { value_of(write_trace(path, self)); },
          py::arg("path"), "As Starling's CSV; gzip if the name ends in .gz.")
      .def("csv", [](const Trace& self) { return trace_csv(self); })
      .def_readonly("name", &Trace::name)
      .def_readonly("dropped", &Trace::dropped,
                    "Rows of the source that asked for no GPU or for 0 s.")
      .def("__len__", [](const Trace& self) { return self.jobs.size(); })
      .def("__repr__", [](const Trace& self) {
        return "<starling.Workload " + self.name + ": " + std::to_string(self.jobs.size()) +
               " jobs>";
      });
  bind_columns(type);
}

}  // namespace starling
