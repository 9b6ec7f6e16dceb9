// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/module.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "Starling's C++ side; the package `starling` is what to import.";
  starling::bind_topology(module);
  starling::bind_workload(module);
  starling::bind_policy(module);
  starling::bind_run(module);
  starling::bind_experiment(module);
  starling::bind_environment(module);
  starling::bind_client(module);
}
