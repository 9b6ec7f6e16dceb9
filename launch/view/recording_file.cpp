// SPDX-License-Identifier: Apache-2.0
#include "launch/view/recording_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "bus/wire/roles.h"
#include "launch/system/program_build.h"
#include "topology/file/load.h"
#include "topology/placement_text.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json ranges(const std::vector<IndexRange>& all) {
  Json out = Json::array();
  for (const IndexRange& range : all) out.push_back({range.first, range.last});
  return out;
}

/// By their names, because numbers of kinds are the program's own.
Json frames(const Recording& recording) {
  Json kinds = Json::array(), list = Json::array();
  std::map<std::uint32_t, std::size_t> number;
  for (const Recording::Frames& f : recording.frames) {
    const auto [at, fresh] = number.emplace(f.kind, kinds.size());
    if (fresh) kinds.push_back(kind_name(f.kind));
    list.push_back({f.at_s, f.from, f.to, at->second, f.count});
  }
  return {{"each_s", recording.frames_each_s}, {"kinds", kinds}, {"list", list}};
}

/// Each line once: many are said of many jobs.
Json whys(const Recording& recording) {
  Json lines = Json::array(), list = Json::array();
  std::map<std::string, std::size_t> number;
  for (const Recording::Why& why : recording.whys) {
    Json of = Json::array();
    for (const std::string& line : why.lines) {
      const auto [at, fresh] = number.emplace(line, lines.size());
      if (fresh) lines.push_back(line);
      of.push_back(at->second);
    }
    list.push_back({why.at_s, why.job, of});
  }
  return {{"left_out", recording.whys_left_out}, {"lines", lines}, {"list", list}};
}

Json loads(const Recording& recording) {
  Json list = Json::array();
  for (const Recording::LinkLoad& load : recording.loads)
    list.push_back({load.at_s, load.link, load.percent});
  return {{"each_s", recording.loads_each_s}, {"list", list}};
}

Placement placement_of(const std::string& text, std::uint32_t most) {
  Placement gpus;
  for (const IndexRange& range : gpu_ranges(text)) {
    if (range.last > most) throw std::out_of_range("a job has run on GPUs that are not");
    if (gpus.size() + (range.last - std::min(range.first, range.last)) > most)
      throw std::out_of_range("a job has run on a GPU twice at a time");
    for (std::uint32_t gpu = range.first; gpu < range.last; ++gpu) gpus.emplace_back(gpu);
  }
  return gpus;
}

std::optional<JobPhase> read_phase(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(JobPhase::moved); ++i) {
    if (name_of(static_cast<JobPhase>(i)) == name) return static_cast<JobPhase>(i);
  }
  return std::nullopt;
}

void read_jobs(const Json& json, Recording& out) {
  for (const Json& row : json) {
    Recording::Job& job = out.jobs.emplace_back();
    row.at(0).get_to(job.name);
    row.at(1).get_to(job.model);
    row.at(2).get_to(job.submit_s);
    row.at(3).get_to(job.end_s);
    job.state = read_phase(row.at(4).get<std::string>()).value_or(JobPhase::unknown);
    row.at(5).get_to(job.gpus);
    row.at(6).get_to(job.home);
    row.at(7).get_to(job.forwards);
    row.at(8).get_to(job.alone_s);
  }
}

void read_frames(const Json& json, Recording& out) {
  json.at("each_s").get_to(out.frames_each_s);
  std::vector<std::uint32_t> kinds;
  for (const Json& name : json.at("kinds")) {
    std::uint32_t kind = 0;
    const auto known = static_cast<std::uint32_t>(std::variant_size_v<MessageKinds>);
    while (kind < known && name.get<std::string>() != kind_name(kind)) ++kind;
    kinds.push_back(kind);
  }
  for (const Json& row : json.at("list"))
    out.frames.push_back({row.at(0).get<double>(), row.at(1).get<std::uint32_t>(),
                          row.at(2).get<std::uint32_t>(), kinds.at(row.at(3).get<std::size_t>()),
                          row.at(4).get<std::uint32_t>()});
}

void read_whys(const Json& json, Recording& out) {
  json.at("left_out").get_to(out.whys_left_out);
  const auto lines = json.at("lines").get<std::vector<std::string>>();
  for (const Json& row : json.at("list")) {
    Recording::Why& why = out.whys.emplace_back();
    row.at(0).get_to(why.at_s);
    row.at(1).get_to(why.job);
    for (const Json& line : row.at(2)) why.lines.push_back(lines.at(line.get<std::size_t>()));
  }
}

void read_loads(const Json& json, Recording& out) {
  json.at("each_s").get_to(out.loads_each_s);
  for (const Json& row : json.at("list"))
    out.loads.push_back(
        {row.at(0).get<double>(), row.at(1).get<std::uint32_t>(), row.at(2).get<std::uint32_t>()});
}

void read_ranges(const Json& json, std::vector<IndexRange>& out) {
  for (const Json& range : json)
    out.push_back({range.at(0).get<std::uint32_t>(), range.at(1).get<std::uint32_t>()});
}

void read_rest(const Json& whole, Recording& out) {
  whole.at("policy").get_to(out.policy);
  whole.at("workload").get_to(out.workload);
  whole.at("seed").get_to(out.seed);
  whole.at("end_s").get_to(out.end_s);
  read_ranges(whole.at("agents"), out.agents);
  read_ranges(whole.at("executors"), out.executors);
  read_jobs(whole.at("jobs"), out);
  for (const Json& row : whole.at("shares"))
    out.shares.push_back({row.at(0).get<std::uint32_t>(), row.at(1).get<std::uint32_t>(),
                          row.at(2).get<double>(), row.at(3).get<double>(),
                          placement_of(row.at(4).get<std::string>(), out.topology.gpu_count()),
                          row.at(5).get<int>() != 0});
  for (const Json& row : whole.at("outages"))
    out.outages.push_back({row.at(0).get<int>() != 0, row.at(1).get<std::uint32_t>(),
                           row.at(2).get<double>(), row.at(3).get<double>()});
  for (const Json& row : whole.at("sick"))
    out.sick.push_back(
        {GpuId{row.at(0).get<std::uint32_t>()}, row.at(1).get<double>(), row.at(2).get<double>()});
  for (const Json& row : whole.at("notes"))
    out.notes.push_back({row.at(0).get<double>(), row.at(1).get<std::string>()});
  read_frames(whole.at("frames"), out);
  // Recordings of earlier programs have neither.
  if (whole.contains("whys")) read_whys(whole.at("whys"), out);
  if (whole.contains("loads")) read_loads(whole.at("loads"), out);
}

/// What does not exist in the data centre, or among the jobs, in words; empty: all does.
std::string contradiction(const Recording& all) {
  const auto servers = [&](const std::vector<IndexRange>& ranges_of) {
    return std::all_of(ranges_of.begin(), ranges_of.end(), [&](const IndexRange& r) {
      return r.first <= r.last && r.last <= all.topology.server_count();
    });
  };
  if (!servers(all.agents) || !servers(all.executors)) return "an agent has servers that are not";
  for (const Recording::Share& share : all.shares) {
    if (share.job >= all.jobs.size()) return "a job has run that is not listed";
  }
  for (const Recording::SickGpu& sick : all.sick)
    if (sick.gpu.value >= all.topology.gpu_count()) return "a GPU was sick that is not";
  for (const Recording::Outage& outage : all.outages)
    if (outage.number >= (outage.agent ? all.agents : all.executors).size())
      return "a daemon was down that is not";
  for (const Recording::Why& why : all.whys)
    if (why.job >= all.jobs.size()) return "a job is explained that is not listed";
  for (const Recording::LinkLoad& load : all.loads)
    if (load.link / 2 >= all.topology.network_links().size()) return "a link is used that is not";
  for (const Recording::Frames& f : all.frames)
    if (std::max(f.from, f.to) >= all.agents.size()) return "an agent has spoken that is not";
  return {};
}

}  // namespace

std::string recording_text(const Recording& recording) {
  Json jobs = Json::array(), shares = Json::array(), outages = Json::array(), sick = Json::array(),
       notes = Json::array();
  for (const Recording::Job& job : recording.jobs)
    jobs.push_back({job.name, job.model, job.submit_s, job.end_s, name_of(job.state), job.gpus,
                    job.home, job.forwards, job.alone_s});
  for (const Recording::Share& share : recording.shares)
    shares.push_back({share.job, share.attempt, share.from_s, share.until_s,
                      placement_text(share.gpus), share.stopped ? 1 : 0});
  for (const Recording::Outage& o : recording.outages)
    outages.push_back({o.agent ? 1 : 0, o.number, o.from_s, o.until_s});
  for (const Recording::SickGpu& s : recording.sick)
    sick.push_back({s.gpu.value, s.from_s, s.until_s});
  for (const Recording::Note& note : recording.notes) notes.push_back({note.at_s, note.what});
  const Json whole{{"starling_recording", kSchema},
                   {"program", program_build()},
                   {"policy", recording.policy},
                   {"workload", recording.workload},
                   {"seed", recording.seed},
                   {"end_s", recording.end_s},
                   {"agents", ranges(recording.agents)},
                   {"executors", ranges(recording.executors)},
                   {"jobs", jobs},
                   {"shares", shares},
                   {"outages", outages},
                   {"sick", sick},
                   {"notes", notes},
                   {"frames", frames(recording)},
                   {"whys", whys(recording)},
                   {"loads", loads(recording)},
                   {"topology", to_yaml(recording.topology)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Recording> parse_recording(const std::string& text, const std::string& file) {
  const std::string right =
      "; give a file that 'starling sim --record' or 'chaos sim --record' wrote";
  try {
    const Json whole = Json::parse(text);
    if (!whole.is_object() || !whole.contains("starling_recording"))
      return {Errc::invalid, file + ": is no recording" + right};
    if (whole.at("starling_recording") != kSchema)
      return {Errc::invalid, file + ": is a recording of another program; record the run anew"};
    auto topology = parse_topology_yaml(whole.at("topology").get<std::string>(), file);
    if (!topology) return {Errc::invalid, file + ": its data centre: " + topology.error().message};
    Recording all{std::move(topology).value(), {}, {}, {}, {}};
    read_rest(whole, all);
    if (const std::string wrong = contradiction(all); !wrong.empty())
      return {Errc::invalid, file + ": is damaged: " + wrong};
    return all;
  } catch (const Json::parse_error&) {
    return {Errc::invalid, file + ": is no recording" + right};
  } catch (const std::exception& error) {
    return {Errc::invalid, file + ": is damaged: " + error.what()};
  }
}

Result<Recording> read_recording(const std::string& file) {
  const auto text = read_text_file(file);
  if (!text) return text.error();
  return parse_recording(text.value(), file);
}

}  // namespace starling
