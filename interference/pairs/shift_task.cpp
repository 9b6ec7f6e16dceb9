// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/shift_task.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "interference/learned/learned_contention.h"
#include "interference/learned/pair_intervals.h"

namespace starling {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string gpu_of(const std::string& set) { return set.substr(set.rfind('/') + 1); }

}  // namespace

double ShiftRow::log_ratio() const { return std::log(std::max(speed, kSlowest)) + predicted; }

Result<ShiftTask> make_shift_task(const InterferenceNet& net, const PairData& data,
                                  const std::string& believed, const std::string& world) {
  if (!net.gpu) return Error{Errc::unsupported, "these weights say nothing of jobs on one GPU"};
  const PairModel& model = net.gpu->model;
  const std::int32_t set = model.set(believed);
  if (set < 0)
    return Error{Errc::not_found, "the network has no set '" + believed +
                                      "'; it has: " + listed(model.table().sets)};
  const auto there = std::ranges::find(data.sets, world);
  if (there == data.sets.end())
    return Error{Errc::not_found,
                 "the file has no set '" + world + "'; it has: " + listed(data.sets)};
  ShiftTask task;
  task.believed = believed, task.world = world;
  task.kind = gpu_kind(gpu_of(world));
  task.trained = (LearnedContention::trained_kinds() >> static_cast<unsigned>(task.kind) & 1U) != 0;
  for (const PairType& type : data.types) {
    auto& profile = task.profiles.emplace_back();
    std::copy_n(type.profile.begin(), std::min(type.profile.size(), profile.size()),
                profile.begin());
  }
  const auto index = static_cast<std::uint32_t>(there - data.sets.begin());
  const auto s = static_cast<std::size_t>(set);
  for (const PairRow& row : data.rows) {
    if (row.set != index) continue;
    const PairType& victim = data.types[row.victim];
    const PairType& other = data.types[row.other];
    PairGuess guess = model.guess(victim, other, s);
    // Agents ask without what that campaign's speed alone was off.
    guess.mean /= model.net().nuisance(model.side(victim).type, s);
    const bool known = model.side(victim).type >= 0 && model.side(other).type >= 0;
    const double mean = std::clamp(guess.mean, kSlowest, 1.0);
    const double half = net.gpu->intervals.half(guess, s, known) *
                        (task.trained ? 1 : LearnedContention::kNeverMeasured);
    task.rows.push_back({static_cast<std::uint16_t>(row.victim),
                         static_cast<std::uint16_t>(row.other), row.pair,
                         static_cast<double>(row.speed), -std::log(mean), half / kSigmas90 / mean});
  }
  return task;
}

std::vector<ShiftTask> all_shifts(const InterferenceNet& net, const PairData& data,
                                  const std::string& without) {
  std::vector<ShiftTask> out;
  if (!net.gpu) return out;
  for (const std::string& believed : net.gpu->model.table().sets) {
    for (const std::string& world : net.gpu->model.table().sets) {
      if (believed == world || believed == without || world == without) continue;
      if (auto task = make_shift_task(net, data, believed, world);
          task.ok() && !task.value().rows.empty())
        out.push_back(std::move(task).value());
    }
  }
  return out;
}

std::vector<std::string> shift_sets(const InterferenceNet& net, const PairData& data) {
  std::vector<std::string> out;
  if (!net.gpu) return out;
  std::set<std::uint32_t> measured;
  for (const PairRow& row : data.rows) measured.insert(row.set);
  for (const std::string& set : net.gpu->model.table().sets) {
    const auto at = std::ranges::find(data.sets, set);
    if (at != data.sets.end() &&
        measured.contains(static_cast<std::uint32_t>(at - data.sets.begin())))
      out.push_back(set);
  }
  return out;
}

std::string too_few_shifts(const InterferenceNet& net, const PairData& data,
                           const std::string& without) {
  const std::string sets = data.sets.empty() ? "none" : listed(data.sets);
  return "fewer than two changes of hardware are left to learn from" +
         (without.empty() ? "" : " without " + without) + ": it has the sets " + sets +
         "; give measured pairs of" + (without.empty() ? " some" : " others") +
         " of those that the network knows, as gavel/colocated.csv: " +
         (net.gpu ? listed(net.gpu->model.table().sets) : "none");
}

}  // namespace starling
