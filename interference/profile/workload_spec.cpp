// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/workload_spec.h"

#include <algorithm>
#include <array>

#include "workload/text/csv.h"

namespace starling {
namespace {

constexpr std::array kKinds = {
    WorkloadKind{"dense", "arithmetic", "samples", 32, 256, 8192},
    WorkloadKind{"embedding", "memory latency and bandwidth", "samples of 64 look-ups", 16, 256,
                 4096},
    WorkloadKind{"stream", "memory bandwidth", "million parameters", 1, 4, 16},
    WorkloadKind{"cache", "cache size", "samples", 1, 8, 8192},
    WorkloadKind{"network", "network", "samples", 8, 256, 8192},
};

std::string all_kinds() {
  std::string names;
  for (const WorkloadKind& kind : kKinds)
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

Status add(std::string_view word, bool quick, std::vector<WorkloadSpec>& specs) {
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const WorkloadKind& k) { return k.name == name; });
  if (kind == kKinds.end()) {
    return {Errc::invalid,
            "'" + std::string(name) + "' is no workload; the workloads are " + all_kinds()};
  }
  const auto put = [&](std::uint32_t batch) {
    const WorkloadSpec spec{std::string(name), batch};
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  };
  if (colon != std::string_view::npos) {
    std::int64_t batch = 0;
    const std::string_view text = word.substr(colon + 1);
    if (!parse_number(text, batch) || batch < 1 || batch > kind->most) {
      return {Errc::invalid, "'" + std::string(word) + "': the batch size '" + std::string(text) +
                                 "' is wrong; give a whole number from 1 to " +
                                 std::to_string(kind->most)};
    }
    put(static_cast<std::uint32_t>(batch));
    return done();
  }
  put(kind->small);
  if (!quick) put(kind->large);
  return done();
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() { return kKinds; }

std::string to_text(const WorkloadSpec& spec) {
  return spec.kind + ':' + std::to_string(spec.batch);
}

Result<std::vector<WorkloadSpec>> parse_workloads(std::string_view text, bool quick) {
  std::vector<WorkloadSpec> specs;
  if (text.empty()) {
    for (const WorkloadKind& kind : kKinds) {
      if (const Status ok = add(kind.name, quick, specs); !ok) return ok.error();
    }
    return specs;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (const Status ok = add(text.substr(at, comma - at), quick, specs); !ok) return ok.error();
    at = comma + 1;
  }
  return specs;
}

}  // namespace starling
