// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/machine_report.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "base/counted.h"
#include "launch/hardware/hardware_check.h"
#include "launch/hardware/nvml.h"
#include "launch/launchers/machine_sight.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/text.h"

namespace starling {
namespace {

using Kind = HardwareFinding::Kind;

void sort_once(Placement& gpus) {
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
}

struct DriverSight {
  bool answers = false;
  std::vector<GpuFound> gpus;
  MachineSight machine;
};

/// Nothing: the driver hangs. In a thread of its own, which is then left behind: jobs of an earlier
/// life wait for their executor.
std::optional<DriverSight> look_at_driver(const std::string& library, Duration patience) {
  auto seen = std::make_shared<std::promise<DriverSight>>();
  auto coming = seen->get_future();
  std::thread([seen, library] {
    DriverSight sight;
    if (const auto nvml = Nvml::open(library)) sight.answers = true, sight.gpus = nvml->gpus();
    sight.machine = look_at_machine("/dev", library);
    seen->set_value(std::move(sight));
  }).detach();
  if (coming.wait_for(patience) != std::future_status::ready) return std::nullopt;
  return coming.get();
}

/// UUIDs of an earlier life, a line each, by index.
std::vector<std::string> known_gpus(const std::filesystem::path& file) {
  std::vector<std::string> all;
  const auto text = read_text(file);
  for (std::size_t at = 0; text && at < text.value().size();) {
    const auto end = std::min(text.value().find('\n', at), text.value().size());
    all.push_back(text.value().substr(at, end - at));
    at = end + 1;
  }
  return all;
}

}  // namespace

MachineReport::MachineReport(const Topology& topology, IndexRange servers, HealthOptions options,
                             std::vector<HardwareFinding> missing, const MachineWatch* watch)
    : topology_(topology),
      servers_(servers),
      options_(std::move(options)),
      missing_(std::move(missing)),
      watch_(watch) {}

std::uint32_t MachineReport::local(GpuId gpu) const {
  return gpu.value - topology_.server(topology_.server_of(gpu)).gpus.first;
}

std::string MachineReport::name_of_gpu(GpuId gpu) const {
  return "GPU " + std::to_string(local(gpu)) + " of " +
         topology_.server(topology_.server_of(gpu)).name;
}

std::uint32_t MachineReport::tenants(GpuId gpu) const {
  std::uint32_t count = 0;
  for (const auto& [key, part] : parts_)
    count += !part.over && std::count(part.gpus.begin(), part.gpus.end(), gpu) > 0 ? 1U : 0U;
  return count;
}

bool MachineReport::is_held(GpuId gpu) const {
  return std::any_of(parts_.begin(), parts_.end(), [gpu](const auto& entry) {
    const Placement& gpus = entry.second.gpus;
    return std::find(gpus.begin(), gpus.end(), gpu) != gpus.end();
  });
}

void MachineReport::started(const LaunchSpec& spec, Instant now) {
  Part part{spec.gpus, now, std::vector<std::uint64_t>(spec.gpus.size(), 0)};
  parts_.emplace(Key{spec.attempt, spec.server}, std::move(part));
  if (watch_ != nullptr) meter(watch_->word());
}

double MachineReport::ended(const Exit& exit) {
  if (watch_ != nullptr) meter(watch_->word());
  const auto at = parts_.find(Key{exit.attempt, exit.server});
  if (at == parts_.end() || at->second.over) return -1;
  const double joules = at->second.joules;
  at->second.over = true;
  const auto first = parts_.lower_bound(Key{exit.attempt, ServerId{0}});
  auto last = first;
  bool all = true;
  for (; last != parts_.end() && last->first.first == exit.attempt; ++last)
    all = all && last->second.over;
  if (all) parts_.erase(first, last);
  return joules;
}

void MachineReport::meter(const MachineWatch::Word& word) {
  for (auto& [key, part] : parts_) {
    if (part.over) continue;
    for (std::size_t i = 0; i < part.gpus.size(); ++i) {
      const auto at = word.gpus.find(local(part.gpus[i]));
      if (at == word.gpus.end() || !at->second.energy_mj) continue;
      const std::uint64_t mj = *at->second.energy_mj;
      std::uint64_t& last = part.last_mj[i];
      // A driver that was loaded anew counts from 0.
      if (last > 0 && mj >= last)
        part.joules = std::max(part.joules, 0.0) +
                      static_cast<double>(mj - last) / 1000 / tenants(part.gpus[i]);
      last = std::max<std::uint64_t>(mj, 1);
    }
  }
}

void MachineReport::judge_gpus(const MachineWatch::Word& word) {
  for (std::uint32_t s = servers_.first; s < servers_.last; ++s) {
    const IndexRange gpus = topology_.server(ServerId{s}).gpus;
    for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
      const auto at = word.gpus.find(g - gpus.first);
      if (at == word.gpus.end()) continue;
      const std::string name = name_of_gpu(GpuId{g});
      if (!at->second.bad.empty()) {
        findings_.push_back({Kind::bad, {GpuId{g}}, name + " is not used: " + at->second.bad});
      } else if (!at->second.slow.empty()) {
        findings_.push_back({Kind::slow, {GpuId{g}}, name + " is held back by " + at->second.slow});
      }
    }
  }
}

void MachineReport::drain(const MachineWatch::Word& word) {
  if (word.failed.empty()) return closed_.clear();
  for (std::uint32_t s = servers_.first; s < servers_.last; ++s) {
    const Server& server = topology_.server(ServerId{s});
    HardwareFinding finding{
        Kind::drained, {}, server.name + " is drained: its probe says: " + word.failed};
    for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g) {
      finding.gpus.push_back(GpuId{g});
      // For good: a Launch that was on its way is about to be taken back.
      if (!is_held(GpuId{g})) closed_.insert(GpuId{g});
    }
    findings_.push_back(std::move(finding));
  }
  sick_.in_use.assign(closed_.begin(), closed_.end());
}

void MachineReport::find_idle(const MachineWatch::Word& word, Instant now) {
  if (options_.idle <= Duration::zero()) return;
  // While a driver hangs it is not known what GPUs do.
  const Instant known = std::min(now, word.looked);
  for (const auto& [key, part] : parts_) {
    if (part.over) continue;
    HardwareFinding finding{Kind::idle, {}, ""};
    for (const GpuId gpu : part.gpus) {
      const auto at = word.gpus.find(local(gpu));
      if (at == word.gpus.end()) continue;
      if (known - std::max(at->second.busy, part.since) >= options_.idle)
        finding.gpus.push_back(gpu);
    }
    if (finding.gpus.empty()) continue;
    finding.text = "job " + to_string(key.first.job) + " has " + counted(part.gpus.size(), "GPU") +
                   " on " + topology_.server(key.second).name + ", and has not used " +
                   std::to_string(finding.gpus.size()) + " of them for more than " +
                   human_seconds(seconds(options_.idle));
    findings_.push_back(std::move(finding));
  }
}

bool MachineReport::look(Instant now) {
  const SickGpus sick_before = std::exchange(sick_, {});
  const std::vector<HardwareFinding> before = std::exchange(findings_, missing_);
  if (watch_ != nullptr) {
    const MachineWatch::Word word = watch_->word();
    meter(word);
    judge_gpus(word);
    drain(word);
    find_idle(word, now);
  }
  for (const HardwareFinding& finding : findings_) {
    if (finding.kind == Kind::bad)
      sick_.gpus.insert(sick_.gpus.end(), finding.gpus.begin(), finding.gpus.end());
  }
  sort_once(sick_.gpus);
  sort_once(sick_.in_use);
  for (const HardwareFinding& finding : findings_) {
    if (std::find(before.begin(), before.end(), finding) == before.end()) log_info(finding.text);
  }
  for (const HardwareFinding& finding : before) {
    if (std::find(findings_.begin(), findings_.end(), finding) == findings_.end())
      log_info("no more: " + finding.text);
  }
  return sick_ != sick_before || findings_ != before;
}

Result<std::vector<HardwareFinding>> check_machine(const Topology& topology, IndexRange servers,
                                                   const HealthOptions& options,
                                                   const std::filesystem::path& node_dir,
                                                   const std::string& library, Duration patience) {
  std::vector<HardwareFinding> found;
  auto seen = look_at_driver(library, patience);
  const bool hangs = !seen.has_value();
  if (hangs) {
    seen = DriverSight{false, {}, look_at_machine("/dev", "")};
    found.push_back({Kind::lacking, {}, "NVIDIA's driver does not answer: its GPUs are believed"});
  }
  const std::vector<GpuFound>& gpus = seen->gpus;
  const bool ours = seen->answers && !is_about_others(gpus, topology, servers);
  const bool compared =
      !hangs && options.missing != Missing::believe && (ours || options.missing != Missing::usual);
  MachineSight& sight = seen->machine;
  if (compared) {
    found = missing_gpus(gpus, topology, servers);
    sight.gpus = UINT32_MAX;  // each was looked at
  }
  const std::string lacks = lacking(sight, topology, servers);
  if (seen->answers) {
    for (const std::string& line : replaced_gpus(gpus, known_gpus(node_dir / "gpus")))
      log_info(line);
    std::string text;
    for (const GpuFound& gpu : gpus) text += gpu.uuid + "\n";
    if (const Status kept = write_text(node_dir / "gpus", text); !kept.ok())
      log_error(kept.error().message);
  }
  if (!lacks.empty()) {
    if (compared) {
      found.push_back({Kind::lacking, {}, lacks});
    } else {
      log_info(lacks);
    }
  }
  if (options.missing == Missing::refuse && !found.empty())
    return {Errc::invalid, found.front().text +
                               "; the flock's health.yaml says hardware: refuse. Mend the machine "
                               "or the topology, or write mark"};
  return found;
}

}  // namespace starling
