// SPDX-License-Identifier: Apache-2.0
#include "launch/profile/campaign.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "interference/profile/profiled_pairs.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Error refused(const std::string& file) {
  return {Errc::io, file + ": " + std::strerror(errno) + "; give another --out"};
}

/// What is there, with the file open to go on. A last line that was cut off is cut away.
Result<std::vector<ProfileSample>> open_samples(const ProfilePlan& plan,
                                                const CampaignOptions& options, File& file) {
  const std::string& name = options.samples_file;
  std::vector<ProfileSample> samples;
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) {
    if (!options.resume) {
      return {Errc::conflict, name +
                                  ": an interrupted run left this; give --resume to go on with "
                                  "it, or delete it"};
    }
    const auto text = read_text_file(name);
    if (!text) return text.error();
    auto parsed = parse_samples(text.value(), name, options.mark, plan);
    if (!parsed) return parsed.error();
    samples = std::move(parsed.value());
  }
  std::string whole = samples_head(options.mark);
  for (const ProfileSample& sample : samples) whole += sample_line(sample);
  file.reset(std::fopen((name + ".new").c_str(), "we"));
  if (file == nullptr || std::fputs(whole.c_str(), file.get()) < 0 ||
      std::fflush(file.get()) != 0 || std::rename((name + ".new").c_str(), name.c_str()) != 0)
    return refused(name);
  return samples;
}

/// The rounds that are missing, then what was disturbed once more; `samples` grows.
Status measure(const ProfilePlan& plan, const CampaignOptions& options, ProfileBench& bench,
               std::FILE* file, std::vector<ProfileSample>& samples) {
  const auto take = [&](const ProfileVisit& visit) -> Status {
    if (options.stop && options.stop()) return Error{Errc::busy, "stopped"};
    const auto sample = bench.measure(visit);
    if (!sample) return sample.error();
    samples.push_back(sample.value());
    if (std::fputs(sample_line(sample.value()).c_str(), file) < 0 || std::fflush(file) != 0)
      return refused(options.samples_file);
    return done();
  };
  const auto run = [&](const std::vector<ProfileVisit>& visits, std::uint64_t before,
                       std::uint64_t total) -> Status {
    for (std::size_t i = 0; i < visits.size(); ++i) {
      if (options.progress) options.progress(before + i, total);
      if (const Status ok = take(visits[i]); !ok) return ok.error();
    }
    if (options.progress) options.progress(before + visits.size(), total);
    if (!visits.empty()) bench.renew();
    return done();
  };

  std::set<ProfileVisit> known;
  for (const ProfileSample& sample : samples) known.insert(sample.visit);
  const std::uint64_t total = round_of(plan, 0).size() * plan.repeats;
  for (std::uint32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    std::vector<ProfileVisit> round = round_of(plan, repeat);
    const std::uint64_t end = round.size() * (repeat + 1);
    std::erase_if(round, [&](const ProfileVisit& visit) { return known.contains(visit); });
    if (const Status ok = run(round, end - round.size(), total); !ok) return ok.error();
  }
  for (std::uint32_t pass = 0; pass < options.again; ++pass) {
    std::vector<ProfileVisit> disturbed;
    for (const ProfileSample& sample : least_disturbed(samples)) {
      if (sample.other_load > kDisturbedAbove && sample.visit.repeat < plan.repeats)
        disturbed.push_back(sample.visit);
    }
    if (const Status ok = run(disturbed, total, total + disturbed.size()); !ok) return ok.error();
  }
  return done();
}

}  // namespace

Result<std::vector<ProfileSample>> run_campaign(const ProfilePlan& plan,
                                                const CampaignOptions& options,
                                                ProfileBench& bench) {
  File file(nullptr, &std::fclose);
  auto opened = open_samples(plan, options, file);
  if (!opened) return opened.error();
  std::vector<ProfileSample> samples = std::move(opened.value());
  if (const Status ok = measure(plan, options, bench, file.get(), samples); !ok) {
    std::error_code ignored;
    if (samples.empty()) std::filesystem::remove(options.samples_file, ignored);
    return ok.error();
  }
  std::vector<ProfileSample> best = least_disturbed(samples);
  std::erase_if(best, [&](const ProfileSample& s) { return s.visit.repeat >= plan.repeats; });
  return best;
}

}  // namespace starling
