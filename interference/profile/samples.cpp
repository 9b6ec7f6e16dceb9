// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/samples.h"

#include <cstdio>
#include <map>

#include "workload/text/csv.h"

namespace starling {
namespace {

constexpr std::string_view kHeader =
    "repeat,place,a,b,alone_a,alone_b,beside_a,beside_b,cpu_alone_a,cpu_alone_b,cpu_beside_a,"
    "cpu_beside_b,other_load\n";

Error wrong(const std::string& file, std::uint64_t line, const std::string& what) {
  return {Errc::invalid, file + ':' + std::to_string(line) + ": " + what};
}

}  // namespace

std::string samples_mark(const ProfilePlan& plan, const std::string& hardware, double seconds) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, " seed=%llu seconds=%g",
                static_cast<unsigned long long>(plan.seed), seconds);
  std::string mark = "# starling profile 1" + std::string(numbers) + " hardware=" + hardware;
  const char* before = " workloads=";
  for (const WorkloadSpec& spec : plan.workloads) {
    mark += before + to_text(spec);
    before = ",";
  }
  before = " places=";
  for (const CorePlace& place : plan.places) {
    mark += before + std::string(to_text(place.relation)) + ':' + std::to_string(place.core_a) +
            ':' + std::to_string(place.core_b);
    before = ",";
  }
  return mark;
}

std::string samples_head(const std::string& mark) { return mark + '\n' + std::string(kHeader); }

std::string sample_line(const ProfileSample& sample) {
  char line[320];
  const ProfileVisit& v = sample.visit;
  std::snprintf(line, sizeof line, "%u,%u,%u,%u,%.9g,%.9g,%.9g,%.9g,%.6f,%.6f,%.6f,%.6f,%.4f\n",
                v.repeat, v.place, v.a, v.b, sample.alone_a, sample.alone_b, sample.beside_a,
                sample.beside_b, sample.cpu_alone_a, sample.cpu_alone_b, sample.cpu_beside_a,
                sample.cpu_beside_b, sample.other_load);
  return line;
}

Result<std::vector<ProfileSample>> parse_samples(std::string_view text, const std::string& file,
                                                 const std::string& mark, const ProfilePlan& plan) {
  const std::string head = samples_head(mark);
  std::vector<ProfileSample> samples;
  const std::size_t end = text.rfind('\n');
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (text.empty()) return samples;  // it was stopped before its first line
  if (!text.starts_with(head.substr(0, mark.size() + 1))) {
    return wrong(file, 1,
                 "was measured with other options; give those again (" +
                     std::string(text.substr(0, text.find('\n'))) + "), or delete the file");
  }
  if (!text.starts_with(head)) return wrong(file, 2, "the header is missing; delete the file");
  CsvReader csv(text.substr(head.size()));
  std::vector<std::string_view> fields;
  while (csv.next(fields)) {
    const std::uint64_t line = csv.line() + 2;
    if (fields.size() != 13) return wrong(file, line, "does not have 13 fields; delete the line");
    ProfileSample sample;
    std::uint32_t* const indices[] = {&sample.visit.repeat, &sample.visit.place, &sample.visit.a,
                                      &sample.visit.b};
    for (std::size_t i = 0; i < 4; ++i) {
      std::int64_t number = 0;
      if (!parse_number(fields[i], number) || number < 0 || number > 1'000'000)
        return wrong(file, line, "'" + std::string(fields[i]) + "' is no index; delete the line");
      *indices[i] = static_cast<std::uint32_t>(number);
    }
    double* const values[] = {&sample.alone_a,      &sample.alone_b,      &sample.beside_a,
                              &sample.beside_b,     &sample.cpu_alone_a,  &sample.cpu_alone_b,
                              &sample.cpu_beside_a, &sample.cpu_beside_b, &sample.other_load};
    for (std::size_t i = 0; i < 9; ++i) {
      if (!parse_number(fields[4 + i], *values[i]) || *values[i] < 0 || (i < 8 && *values[i] == 0))
        return wrong(file, line,
                     "'" + std::string(fields[4 + i]) + "' is no rate; delete the line");
    }
    const ProfileVisit& v = sample.visit;
    if (v.place >= plan.places.size() || v.a > v.b || v.b >= plan.workloads.size())
      return wrong(file, line, "names a pair or place that there is not; delete the line");
    samples.push_back(sample);
  }
  return samples;
}

std::vector<ProfileSample> least_disturbed(std::span<const ProfileSample> samples) {
  std::map<ProfileVisit, ProfileSample> best;
  for (const ProfileSample& sample : samples) {
    const auto [at, fresh] = best.try_emplace(sample.visit, sample);
    if (!fresh && sample.other_load < at->second.other_load) at->second = sample;
  }
  std::vector<ProfileSample> out;
  out.reserve(best.size());
  for (const auto& [visit, sample] : best) out.push_back(sample);
  return out;
}

}  // namespace starling
