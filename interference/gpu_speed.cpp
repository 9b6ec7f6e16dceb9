#include "interference/gpu_speed.h"

#include <utility>

namespace starling {
namespace {

// K80, P100: median over 26 job types of Gavel's isolated throughputs (2020_sim, 1 GPU) relative to
// the V100. T4: images/s of ResNet-50 b200 in Pollux (216) over b128 on Gavel's V100 (320). A100:
// ElasticFlow's ResNet-50 b128 (468) over the same 320. H100: twice an A100, from MLPerf training;
// not measured in the data this is fitted to.
constexpr std::pair<std::string_view, double> kFactors[] = {
    {"K80", 0.25}, {"P100", 0.81}, {"V100", 1.0}, {"T4", 0.67}, {"A100", 1.46}, {"H100", 2.9},
};

char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  if (text.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (upper(text[i]) != prefix[i]) return false;
  }
  return true;
}

}  // namespace

double gpu_speed_factor(std::string_view type) noexcept {
  for (const auto& [name, factor] : kFactors) {
    if (starts_with(type, name)) return factor;
  }
  return 1.0;
}

}  // namespace starling
