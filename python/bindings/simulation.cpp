// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/simulation.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "launch/wiring/wiring.h"
#include "python/bindings/own_policy.h"

namespace py = pybind11;

namespace starling {
namespace {

using Set = std::function<void(RunOptions&, const py::handle&)>;

template <class Value>
Set field(Value RunOptions::*which) {
  return [which](RunOptions& options, const py::handle& given) {
    options.*which = given.cast<Value>();
  };
}

const std::map<std::string, Set>& run_fields() {
  using O = RunOptions;
  static const std::map<std::string, Set> all{
      {"agents", field(&O::agents)},   {"physics", field(&O::physics)},
      {"speed", field(&O::speed)},     {"durations", field(&O::durations)},
      {"network", field(&O::network)}, {"seed", field(&O::seed)},
      {"load", field(&O::load)},       {"servers_per_executor", field(&O::servers_per_executor)},
      {"check", field(&O::check)}};
  return all;
}

void set(RunOptions& options, const std::string& name, const py::handle& value) {
  const auto found = run_fields().find(name);
  if (found == run_fields().end()) {
    std::string known = "policy";
    for (const auto& [one, setter] : run_fields()) known += ", " + one;
    throw py::type_error("there is no '" + name + "'; there are " + known);
  }
  try {
    found->second(options, value);
  } catch (const py::cast_error&) {
    throw py::type_error(name + " cannot be " + py::repr(value).cast<std::string>());
  }
}

}  // namespace

AskedRun asked_run(const py::kwargs& given) {
  AskedRun asked{{}, simulated_policies()};
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (name != "policy") set(asked.options, name, value);
  }
  if (!(asked.options.load >= 0))
    throw py::value_error("--load: '" + py::str(given["load"]).cast<std::string>() +
                          "' is wrong, give a number above 0");
  if (!given.contains("policy")) return asked;
  const py::object policy = given["policy"];
  if (py::isinstance<py::str>(policy)) {
    asked.options.policy = policy.cast<std::string>();
  } else {
    asked.options.policy = add_own_policy(asked.policies, policy, asked.options.agents);
  }
  return asked;
}

std::function<void(std::uint64_t, std::uint64_t)> watching(py::object call) {
  // What is captured dies where the interpreter may not be held.
  const std::shared_ptr<py::object> kept(new py::object(std::move(call)), [](py::object* object) {
    const py::gil_scoped_acquire held;
    delete object;
  });
  return [kept](std::uint64_t done, std::uint64_t total) {
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!kept->is_none()) (*kept)(done, total);
  };
}

}  // namespace starling
