// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>

#include "launch/command_line/results_folder.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/prepare.h"
#include "launch/experiment/results.h"
#include "launch/experiment/run_grid.h"
#include "launch/wiring/wiring.h"
#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "sim/simulate.h"

namespace py = pybind11;

namespace starling {
namespace {

/// Lets threads work while the one that Python knows looks for Ctrl-C, and ends what they do then,
/// or when a callback raises.
class Stopper {
 public:
  /// Of a thread that works.
  template <class Call>
  void call(Call call) {
    const py::gil_scoped_acquire interpreter;
    try {
      call();
    } catch (...) {
      stop_with(std::current_exception());
    }
  }
  [[nodiscard]] Result<RunResult> simulate(const Topology& topology, const Trace& trace,
                                           const PolicyRegistry& policies, SimOptions sim) const {
    sim.progress = [this](std::uint64_t, std::uint64_t) {
      if (stop_) throw Stopped{};
    };
    const Error stopped{Errc::expired, "it was stopped"};
    if (stop_) return stopped;
    try {
      return starling::simulate(topology, trace, policies, sim);
    } catch (const Stopped&) {
      return stopped;
    }
  }
  /// What `work` gives; or throws what has ended it.
  template <class Work>
  auto watch(Work work) -> decltype(work()) {
    constexpr auto kPoll = std::chrono::milliseconds(100);
    auto done = std::async(std::launch::async, work);
    {
      const py::gil_scoped_release others_may;
      while (done.wait_for(kPoll) != std::future_status::ready) {
        const py::gil_scoped_acquire interpreter;
        if (!stop_ && PyErr_CheckSignals() != 0)
          stop_with(std::make_exception_ptr(py::error_already_set()));
      }
    }
    if (thrown_) std::rethrow_exception(thrown_);
    return done.get();
  }

 private:
  struct Stopped {};
  /// With the interpreter.
  void stop_with(std::exception_ptr thrown) {
    if (!thrown_) thrown_ = std::move(thrown);
    stop_ = true;
  }
  std::atomic<bool> stop_ = false;
  std::exception_ptr thrown_;
};

/// An experiment file with its inputs and its runs.
class Grid {
 public:
  Grid(const std::string& file, const std::string& split, const Variables& variables)
      : policies_(simulated_policies()),
        experiment_(value_of_input(load_experiment(file, policies_, variables, split))),
        inputs_(value_of_input(open_inputs(experiment_))),
        points_(value_of_input(expand(experiment_, inputs_))) {}

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const std::vector<RunPoint>& points() const { return points_; }

  /// What run number `index` has.
  [[nodiscard]] py::tuple inputs(std::size_t index) const {
    if (index >= points_.size())
      throw py::index_error("there is no run " + std::to_string(index) + "; there are " +
                            std::to_string(points_.size()));
    const RunPoint& point = points_[index];
    const Topology& topology = inputs_.topologies[point.topology_index].front();
    Trace jobs = value_of_input(prepare_jobs(inputs_.workloads[point.workload_index],
                                             experiment_.workloads[point.workload_index],
                                             experiment_.topologies[point.topology_index], topology,
                                             point.load, point.seed, experiment_.physics));
    return py::make_tuple(topology, std::make_shared<Trace>(std::move(jobs)));
  }

  [[nodiscard]] py::dict run(const std::string& out, bool resume, bool force, std::uint32_t threads,
                             const py::object& progress) const {
    if (resume && force)
      raise({Errc::invalid,
             "--resume keeps the runs that are there, --force removes them; give one"});
    if (const Status free = can_take_results(out); !free.ok())
      raise({Errc::invalid, "--out: " + free.error().message});
    py::list failures;
    Stopper stopper;
    GridOptions options;
    options.out = out;
    options.resume = resume;
    options.force = force;
    options.threads = threads;
    options.progress = [&](std::uint64_t ran, std::uint64_t total, double left_s) {
      stopper.call([&] {
        if (!progress.is_none()) progress(ran, total, left_s);
      });
    };
    options.failed = [&](const RunPoint& point, const Error& error) {
      stopper.call([&] { failures.append(py::make_tuple(point.id, error.message)); });
    };
    const RunFunction run = [&](const Topology& topology, const Trace& trace,
                                const PolicyRegistry& policies, const SimOptions& sim) {
      return stopper.simulate(topology, trace, policies, sim);
    };
    const GridOutcome done = value_of_input(stopper.watch(
        [&] { return run_grid(experiment_, inputs_, points_, policies_, run, options); }));
    value_of(write_results(out, value_of(read_results(out))));
    py::dict told;
    told["ran"] = done.ran;
    told["skipped"] = done.skipped;
    told["failed"] = failures;
    return told;
  }

 private:
  PolicyRegistry policies_;
  Experiment experiment_;
  Inputs inputs_;
  std::vector<RunPoint> points_;
};

py::list points_of(const Grid& grid) {
  py::list out;
  for (const RunPoint& point : grid.points()) {
    py::dict one;
    one["id"] = point.id;
    one["topology"] = point.topology;
    one["workload"] = point.workload;
    one["split"] = point.split;
    one["load"] = point.load;
    one["seed"] = point.seed;
    one["agents"] = point.agents;
    one["label"] = point.label;
    one["policy"] = point.policy;
    one["faults"] = point.faults;
    out.append(one);
  }
  return out;
}

}  // namespace

void bind_experiment(py::module_& module) {
  py::class_<Grid>(module, "Experiment", "A grid of runs, from a file (docs/experiments.md).")
      .def(py::init<const std::string&, const std::string&, const Variables&>(), py::arg("file"),
           py::arg("split") = "", py::arg("variables") = Variables{},
           "`split`: the one to run in the place of the file's; `variables`: values for ${NAME}.")
      .def_property_readonly("name", [](const Grid& self) { return self.experiment().name; })
      .def_property_readonly("physics",
                             [](const Grid& self) {
                               const Experiment& e = self.experiment();
                               return text_of(PhysicsChoice{e.physics, e.straggler_sigma, e.pairs,
                                                            e.goodput, e.links});
                             })
      .def_property_readonly("points", &points_of, "A dict for each run, in the grid's order.")
      .def("inputs", &Grid::inputs, py::arg("index"),
           "(Topology, Workload) of that run, as the experiment prepares them.")
      .def("run", &Grid::run, py::arg("out"), py::arg("resume") = false, py::arg("force") = false,
           py::arg("threads") = 0, py::arg("progress") = py::none(),
           "Runs all of them into the folder `out`, as `starling experiment` does, with its "
           "tables and its page; progress(done, total, left_s).");
}

}  // namespace starling
