// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "policies/candidates/candidates.h"
#include "policies/partitions/forwarding_by_speed.h"
#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "python/bindings/simulation.h"
#include "python/environment/decision_run.h"

namespace py = pybind11;

namespace starling {
namespace {

using Rows = py::array_t<float, py::array::c_style>;
using Marks = py::array_t<std::int8_t, py::array::c_style>;

/// A DecisionRun for Python.
class Episode {
 public:
  Episode(const Topology& topology, const Trace& trace, const std::string& teacher,
          const py::kwargs& given) {
    if (given.contains("policy"))
      throw py::type_error("policy: an episode's policy is whoever steps it");
    AskedRun asked = asked_run(given);
    RunInput input = value_of_input(make_run_input(asked.options, asked.policies, topology, trace));
    run_ = value_of_input(DecisionRun::make(std::move(input.topology),
                                            std::make_shared<const Trace>(std::move(input.trace)),
                                            std::move(input.sim), asked.policies, teacher));
    most_ = most_options(topology, asked.options.agents);
  }

  /// Options that a decision can have at most: of each GPU type the places of Candidates, those
  /// that share, the partitions that are told of, and waiting.
  static std::size_t most_options(const Topology& topology, std::uint32_t agents) {
    const std::size_t types = std::max<std::size_t>(1, topology.gpu_types().size());
    return 3 * types + Candidates::kShared + 1 + (agents > 1 ? ForwardingBySpeed::kOptions : 0) + 1;
  }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }

  /// To the next decision; false: the run is over.
  bool advance() {
    check_idle();
    if (open()) throw std::runtime_error("a decision is open: step(option) takes it");
    return go_on();
  }

  bool step(std::size_t option) {
    check_idle();
    const std::size_t options = open_decision().kinds.size();
    if (option >= options) {
      throw py::index_error("there is no option " + std::to_string(option) + "; there are " +
                            std::to_string(options));
    }
    run_->answer(option);
    state_ = DecisionRun::State::pause;
    return go_on();
  }

  /// Rows of the decision's options into `rows`, which has room for more, and 1 for each of them
  /// into `mask`; all else becomes 0. How many there are.
  std::size_t fill(Rows rows, Marks mask) const {
    float* const out = rows.mutable_data();
    std::int8_t* const marks = mask.mutable_data();
    const auto room = static_cast<std::size_t>(mask.size());
    if (static_cast<std::size_t>(rows.size()) != room * Features::kOwn)
      throw py::value_error("rows: [options, " + std::to_string(Features::kOwn) + "] is wanted");
    const std::size_t options = open() ? run_->open().kinds.size() : 0;
    if (options > room)
      throw py::value_error("there are " + std::to_string(options) + " options, room for " +
                            std::to_string(room));
    for (std::size_t i = 0; i < options; ++i) {
      std::copy_n(run_->open().rows.begin() + static_cast<std::ptrdiff_t>(i * Features::kRow),
                  Features::kOwn, out + i * Features::kOwn);
    }
    std::fill(out + options * Features::kOwn, out + room * Features::kOwn, 0.0F);
    std::fill_n(marks, options, std::int8_t{1});
    std::fill(marks + options, marks + room, std::int8_t{0});
    return options;
  }

  [[nodiscard]] bool open() const { return state_ == DecisionRun::State::decision; }
  [[nodiscard]] const OpenDecision& open_decision() const {
    check_idle();
    if (!open()) throw std::runtime_error("there is no decision to be taken");
    return run_->open();
  }
  [[nodiscard]] const DecisionRun& run() const {
    check_idle();
    return *run_;
  }
  [[nodiscard]] std::shared_ptr<RunResult> result() const {
    if (state_ != DecisionRun::State::over) throw std::runtime_error("the run is not over");
    return std::make_shared<RunResult>(run_->result());
  }

 private:
  /// The run is one thread's at a time, and the interpreter is free while it goes on.
  void check_idle() const {
    if (busy_) throw std::runtime_error("another thread steps this episode; give each its own");
  }

  bool go_on() {
    while (state_ == DecisionRun::State::pause) {
      if (failed_) throw std::runtime_error("the run has failed; there is nothing to go on with");
      state_ = value_of(next());
      failed_ = false;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return open();
  }

  Result<DecisionRun::State> next() {
    struct Busy {
      bool& busy;
      explicit Busy(bool& flag) : busy(flag) { busy = true; }
      ~Busy() { busy = false; }
    };
    const Busy busy(busy_);  // is set and looked at with the interpreter
    failed_ = true;          // unless this comes back
    const py::gil_scoped_release others_may;
    return run_->advance();
  }

  std::unique_ptr<DecisionRun> run_;
  DecisionRun::State state_ = DecisionRun::State::pause;
  bool busy_ = false, failed_ = false;
  std::size_t most_ = 0;
};

const char* kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::start:
      return "start";
    case OptionKind::forward:
      return "forward";
    case OptionKind::co_allocate:
      return "co_allocate";
    case OptionKind::stop_and_start:
      return "stop_and_start";
    case OptionKind::resize:
      return "resize";
    case OptionKind::wait:
      return "wait";
  }
  return "wait";
}

Rows rows_of(const Episode& self) {
  const OpenDecision& open = self.open_decision();
  Rows rows({open.kinds.size(), Features::kOwn});
  for (std::size_t i = 0; i < open.kinds.size(); ++i) {
    std::copy_n(open.rows.begin() + static_cast<std::ptrdiff_t>(i * Features::kRow), Features::kOwn,
                rows.mutable_data() + i * Features::kOwn);
  }
  return rows;
}

/// In the order of Input (gnn/marl/inputs.h).
constexpr std::array<const char*, Features::kOwn> kNames{"gang",
                                                         "gang_part",
                                                         "waited",
                                                         "served",
                                                         "queue_jobs",
                                                         "queue_gpus",
                                                         "ahead_gpus",
                                                         "free_part",
                                                         "running_jobs",
                                                         "busy_part",
                                                         "work_left",
                                                         "work_estimated",
                                                         "gpu_use",
                                                         "gradient_rate",
                                                         "types_differ",
                                                         "smaller_part",
                                                         "waits",
                                                         "own_speed",
                                                         "unshared_speed",
                                                         "net_gain",
                                                         "gain_lacking",
                                                         "slowdown",
                                                         "inflicted_loss",
                                                         "slowest_other",
                                                         "is_tight",
                                                         "is_rack",
                                                         "is_spread",
                                                         "is_beside",
                                                         "is_server",
                                                         "servers",
                                                         "racks_differ",
                                                         "sharer_served",
                                                         "sharer_left",
                                                         "sharer_gang",
                                                         "sharer_size",
                                                         "left_free",
                                                         "none_left",
                                                         "type_speed",
                                                         "alone_speed",
                                                         "waits_queue_gpus",
                                                         "waits_free_part",
                                                         "waits_gang",
                                                         "waits_waited",
                                                         "waits_smaller_part",
                                                         "waits_work_left",
                                                         "shares_queue_gpus",
                                                         "gain_queue_gpus",
                                                         "inflicted_queue_gpus",
                                                         "type_queue_gpus",
                                                         "shares_work_left",
                                                         "gain_work_left",
                                                         "inflicted_work_left",
                                                         "type_work_left",
                                                         "goes",
                                                         "there_speed",
                                                         "there_starts",
                                                         "there_one_server",
                                                         "there_free",
                                                         "there_open",
                                                         "there_queue",
                                                         "queue_gap",
                                                         "forwards",
                                                         "rule_faster",
                                                         "rule_waits"};
static_assert(kNames.back() != nullptr);

Weights weights_of(const py::dict& tensors, const py::dict& notes) {
  Weights weights;
  for (const auto& [name, given] : tensors) {
    const auto values =
        py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(given);
    if (!values) throw py::type_error(py::str(name).cast<std::string>() + ": give an array");
    Tensor& tensor = weights.tensors[name.cast<std::string>()];
    for (py::ssize_t i = 0; i < values.ndim(); ++i)
      tensor.shape.push_back(static_cast<std::uint32_t>(values.shape(i)));
    tensor.values.assign(values.data(), values.data() + values.size());
  }
  for (const auto& [key, text] : notes)
    weights.notes[key.cast<std::string>()] = text.cast<std::string>();
  return weights;
}

void bind_weights(py::module_& module) {
  module.def(
      "save_weights",
      [](const std::string& path, const py::dict& tensors, const py::dict& notes) {
        value_of_input(save_weights(path, weights_of(tensors, notes)));
      },
      py::arg("path"), py::arg("tensors"), py::arg("notes") = py::dict(),
      "Writes float32 arrays by name as a file that weights=FILE of the learned policies takes.");
  module.def(
      "load_weights",
      [](const std::string& path) {
        const Weights weights = value_of_input(load_weights(path));
        py::dict out;
        for (const auto& [name, tensor] : weights.tensors) {
          py::array_t<float> values(
              std::vector<py::ssize_t>(tensor.shape.begin(), tensor.shape.end()));
          std::ranges::copy(tensor.values, values.mutable_data());
          out[py::str(name)] = values;
        }
        return out;
      },
      py::arg("path"), "dict of float32 arrays by name.");
  module.attr("FEATURES") = py::cast(kNames);
  module.attr("SITUATION_FEATURES") = Features::kSituation;
  module.attr("NET_ROW") = Features::kRow;
}

}  // namespace

void bind_environment(py::module_& module) {
  bind_weights(module);
  py::class_<Episode>(module, "Episode",
                      "A simulated run that stops at each decision of its placement policy. "
                      "starling.gym and starling.pettingzoo are made of it.")
      .def(py::init<const Topology&, const Trace&, const std::string&, const py::kwargs&>(),
           py::arg("topology"), py::arg("workload"), py::arg("teacher") = "")
      .def_static("most_options", &Episode::most_options, py::arg("topology"), py::arg("agents"),
                  "A decision has no more.")
      .def("advance", &Episode::advance,
           "To the first decision; False: there is none, the run is over.")
      .def("step", &Episode::step, py::arg("option"),
           "Takes the option, and goes on to the next decision; False: the run is over.")
      .def("fill", &Episode::fill, py::arg("rows").noconvert(), py::arg("mask").noconvert())
      .def_property_readonly("open", &Episode::open, "A decision waits for step().")
      .def_property_readonly("rows", &rows_of,
                             "float32 [options, len(FEATURES)]: of the open decision.")
      .def_property_readonly(
          "kinds",
          [](const Episode& self) {
            std::vector<std::string> out;
            for (const OptionKind kind : self.open_decision().kinds)
              out.emplace_back(kind_name(kind));
            return out;
          },
          "start, forward or wait, by option.")
      .def_property_readonly("agent",
                             [](const Episode& self) { return self.open_decision().agent.value; })
      .def_property_readonly(
          "job", [](const Episode& self) { return to_string(self.open_decision().job); })
      .def_property_readonly(
          "taught", [](const Episode& self) { return self.open_decision().taught; },
          "The option that the teacher would take; None without one.")
      .def_property_readonly("now_s", [](const Episode& self) { return self.run().now_s(); })
      .def_property_readonly(
          "job_hours", [](const Episode& self) { return self.run().job_hours(); },
          "Sum over jobs of the hours in the system by now.")
      .def_property_readonly("jobs_now", [](const Episode& self) { return self.run().jobs_now(); })
      .def_property_readonly("decisions",
                             [](const Episode& self) { return self.run().decisions(); })
      .def("result", &Episode::result, "The Run, once it is over.");
}

}  // namespace starling
