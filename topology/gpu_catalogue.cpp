// SPDX-License-Identifier: Apache-2.0
#include "topology/gpu_catalogue.h"

#include <algorithm>
#include <cctype>
#include <string>
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
      {"L4", 24},        {"L40S", 48},      {"H100", 80},    {"H800", 80},    {"A800", 80},
      {"H200", 141},     {"B200", 180},     {"GB200", 186},  {"TPU-v4", 32},  {"G1", 16},
      {"G2", 16},        {"G3", 32},
  };
  return types;
}

std::optional<GpuType> known_gpu_type(std::string_view name) {
  for (const GpuType& type : known_gpu_types()) {
    if (type.name == name) return type;
  }
  return std::nullopt;
}

std::optional<GpuType> gpu_type_in(std::string_view label) {
  if (auto exact = known_gpu_type(label)) return exact;
  const auto upper = [](std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
  };
  const std::string text = upper(label);
  const auto bounded = [&text](std::size_t at, std::size_t length) {
    const auto part_of_word = [&text](std::size_t i) {
      return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    };
    return (at == 0 || !part_of_word(at - 1)) && !part_of_word(at + length);
  };
  const GpuType* best = nullptr;
  for (const GpuType& type : known_gpu_types()) {
    const std::string name = upper(type.name);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if (bounded(at, name.size()) && (best == nullptr || name.size() > best->name.size())) {
        best = &type;
      }
    }
  }
  if (best == nullptr) return std::nullopt;
  if (text.find("32GB") != std::string::npos && best->name == "V100") {
    return known_gpu_type("V100-32GB");
  }
  if (text.find("80GB") != std::string::npos && best->name == "A100") {
    return known_gpu_type("A100-80GB");
  }
  return *best;
}

}  // namespace starling
