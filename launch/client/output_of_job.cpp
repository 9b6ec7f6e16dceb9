// SPDX-License-Identifier: Apache-2.0
#include "launch/client/output_of_job.h"

#include <algorithm>
#include <map>
#include <utility>

#include "agents/parts/gang_layout.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"
#include "topology/topology.h"

namespace starling {

OutputOfJob::OutputOfJob(FlockClient& flock, Options options, Say print, Say note)
    : flock_(flock),
      options_(std::move(options)),
      print_(std::move(print)),
      note_(std::move(note)) {}

Result<bool> OutputOfJob::renumber() {
  auto changed = flock_.reread();
  if (!changed || !changed.value()) return changed;
  const Topology& now = flock_.topology();
  std::map<std::string, ServerId> servers;
  for (std::uint32_t s = 0; s < now.server_count(); ++s)
    servers.emplace(now.server(ServerId{s}).name, ServerId{s});
  // Whose server has left has ended.
  std::erase_if(parts_, [&](const Part& part) { return !servers.contains(part.name); });
  for (Part& part : parts_) {
    part.server = servers.at(part.name);
    part.owner = agent_node(flock_.owner_of(part.server));
  }
  return true;
}

Status OutputOfJob::look_at(const JobState& state) {
  if (Status connected = flock_.connect(); !connected.ok()) return connected;
  const auto others = renumber();
  if (!others) return others.error();
  const AttemptId attempt{state.job, state.attempt_epoch, state.attempt_number};
  if (state.attempt_number == 0) {
    const bool over = terminal(state.phase);
    if (state.attempts == 0)
      return {Errc::not_ready, over ? "it never started" : "it has not started yet"};
    return {over ? Errc::unsupported : Errc::not_ready,
            "its home does not know which attempt was its last"};
  }
  if (attempt == attempt_ && !parts_.empty()) return done();
  if (others.value()) return {Errc::conflict, "the flock's servers have changed; ask again"};
  const std::uint32_t per_worker = state.ask == nullptr ? 1 : state.ask->gpus_per_worker;
  for (const GpuId gpu : state.placement) {
    if (gpu.value >= flock_.topology().gpu_count())
      return {Errc::invalid, "it runs on GPUs that this topology does not have"};
  }
  const Share gang{PartitionId{0}, state.placement};
  const auto layout = gang_layout(std::span(&gang, 1), per_worker, flock_.topology());
  const std::uint32_t world = layout.empty() ? 0 : layout.back().first_rank + layout.back().workers;
  if (options_.rank && *options_.rank >= world)
    return {Errc::invalid, "it has ranks 0 to " + std::to_string(world - (world > 0 ? 1U : 0U)) +
                               ", and none " + std::to_string(*options_.rank)};
  if (!parts_.empty()) {
    finish();
    note_("attempt " + std::to_string(state.attempts) + " begins");
  }
  attempt_ = attempt;
  attempts_ = state.attempts;
  parts_.clear();
  for (const GangPart& p : layout) {
    const bool here = options_.rank && *options_.rank >= p.first_rank &&
                      *options_.rank < p.first_rank + p.workers;
    if (options_.rank && !here) continue;
    parts_.push_back({p.server, flock_.topology().server(p.server).name,
                      agent_node(flock_.owner_of(p.server)),
                      RankLines(world, p.first_rank, p.workers, options_.rank)});
  }
  return done();
}

void OutputOfJob::ask(Part& part) {
  if (flock_.session().spoken_with(part.owner) < 3)
    flock_.session().send(part.owner, StatusQuery{});  // whose answer says what it speaks
  ReadOutput read{attempt_, part.server, flock_.session().me(), part.file, part.offset};
  if (part.file == 0) read.from_end = options_.from_end;
  if (flock_.session().spoken_with(part.owner) >= 3) flock_.session().send(part.owner, read);
}

void OutputOfJob::tell_gone(const Part& part, const OutputPage& page) const {
  if (!page.gap && (part.file != 0 || options_.from_end > 0)) return;
  // Positions count all that was ever printed, where executors know that.
  const std::uint64_t begins = page.next - std::min<std::uint64_t>(page.next, page.bytes.size());
  const std::uint64_t gone = begins - std::min(begins, part.offset);
  if (gone == 0) {
    if (page.gap) note_("some output is gone here: it was more than is kept");
    return;
  }
  const std::string& server = part.name;
  if (options_.line) {
    options_.line({attempt_.job, attempts_, server, {}, gone});
  } else {
    note_(std::to_string(gone) + " bytes that it printed at " + server +
          " before are gone: it was more than is kept");
  }
}

void OutputOfJob::take(Part& part, const OutputPage& page) {
  part.asked = false;
  if (!page.trouble.empty()) {
    part.trouble = page.trouble;
    part.ended = true;
    return;
  }
  part.any = true;
  tell_gone(part, page);
  if (options_.line) {
    hand_out(part, part.lines.lines(page.bytes));
  } else if (const std::string text = part.lines.take(page.bytes); !text.empty()) {
    print_(text);
  }
  part.file = page.file;
  part.offset = page.next;
  part.ended = !page.more;
}

bool OutputOfJob::read(Duration patience) {
  for (Part& part : parts_) part.ended = false;
  const auto open = [this] {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return !p.ended; });
  };
  Instant until = Session::now() + patience;
  while (open() && Session::now() < until && !stop_requested()) {
    for (Part& part : parts_) {
      if (!part.ended) part.asked = true, ask(part);
    }
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    while (open()) {
      const auto received = flock_.session().receive(again);
      if (!received) break;
      const auto* page = std::get_if<OutputPage>(&received->message);
      if (page == nullptr) {
        if (!std::holds_alternative<AgentStatus>(received->message)) continue;
        for (Part& part : parts_) {
          if (!part.ended && part.owner == received->from && part.file == 0 && !part.any) ask(part);
        }
        continue;
      }
      for (Part& part : parts_) {
        if (page->server != part.server || page->attempt != attempt_ || part.ended ||
            received->from != part.owner || page->asked_file != part.file ||
            page->asked_offset != part.offset)
          continue;
        until = Session::now() + patience;
        take(part, *page);
        if (!part.ended) part.asked = true, ask(part);
      }
    }
  }
  return !open();
}

void OutputOfJob::finish() {
  for (Part& part : parts_) {
    if (options_.line) {
      hand_out(part, part.lines.rest_of_lines());
    } else if (const std::string text = part.lines.rest(); !text.empty()) {
      print_(text + "\n");
    }
  }
}

void OutputOfJob::hand_out(const Part& part, std::vector<RankLine> lines) const {
  const std::string& server = part.name;
  for (RankLine& line : lines) options_.line({attempt_.job, attempts_, server, std::move(line)});
}

std::string OutputOfJob::trouble() const {
  for (const Part& part : parts_) {
    if (part.any) return {};
  }
  for (const Part& part : parts_) {
    if (!part.trouble.empty()) return part.trouble;
  }
  return {};
}

std::vector<std::string> OutputOfJob::silent() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    if (part.asked) names.push_back(part.name);
  }
  return names;
}

}  // namespace starling
