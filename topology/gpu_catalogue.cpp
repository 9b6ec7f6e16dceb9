#include "topology/gpu_catalogue.h"

#include <vector>

namespace starling {

std::span<const GpuType> known_gpu_types() {
  // Memory as the vendor's data sheets give it. V100M16, V100M32 are openb's names; what its G1, G2
  // and G3 are was not published, so their memory is assumed.
  static const std::vector<GpuType> types = {
      {"K80", 12},       {"M60", 8},        {"P4", 8},       {"P40", 24},     {"P100", 16},
      {"V100", 16},      {"V100-32GB", 32}, {"V100M16", 16}, {"V100M32", 32}, {"T4", 16},
      {"RTX2080Ti", 11}, {"RTX3090", 24},   {"RTX4090", 24}, {"RTX6000", 24}, {"A10", 24},
      {"A10G", 24},      {"A30", 24},       {"A40", 48},     {"A100", 40},    {"A100-80GB", 80},
      {"L4", 24},        {"L40S", 48},      {"H100", 80},    {"H800", 80},    {"H200", 141},
      {"B200", 180},     {"G1", 16},        {"G2", 16},      {"G3", 32},
  };
  return types;
}

std::optional<GpuType> known_gpu_type(std::string_view name) {
  for (const GpuType& type : known_gpu_types()) {
    if (type.name == name) return type;
  }
  return std::nullopt;
}

}  // namespace starling
