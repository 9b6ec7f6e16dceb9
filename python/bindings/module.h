// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace starling {

// The parts of the module starling._core, in the order in which they name one another's types.
void bind_topology(pybind11::module_& module);
void bind_workload(pybind11::module_& module);
void bind_policy(pybind11::module_& module);
void bind_run(pybind11::module_& module);
void bind_experiment(pybind11::module_& module);
void bind_environment(pybind11::module_& module);
void bind_client(pybind11::module_& module);

}  // namespace starling
