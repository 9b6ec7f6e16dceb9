// SPDX-License-Identifier: Apache-2.0
#include "interference/memory.h"

#include "workload/catalogue.h"

namespace starling {

bool fits_together(const JobProfile& one, const JobProfile& other, double gpu_memory_gib) noexcept {
  return model_profile(one.model).memory_gib + model_profile(other.model).memory_gib <=
         gpu_memory_gib;
}

bool fits_together(const JobProfile& one, const JobProfile& other, const Topology& topology,
                   GpuId gpu) noexcept {
  return fits_together(one, other, topology.gpu_types()[topology.type_of(gpu).value].memory_gib);
}

}  // namespace starling
