// SPDX-License-Identifier: Apache-2.0
#include "sim/check/client_history.h"

#include <algorithm>
#include <tuple>
#include <variant>

namespace starling {
namespace {

std::string of(JobId job, const std::string& what) { return "job " + to_string(job) + " " + what; }

/// `home` has what `client` asked for, but for whose the job is, which its key says, and the queue
/// of one that named none, which its home says where there are queues.
bool same_wish(const JobSpec& client, const JobSpec& home) {
  const auto asked = [](const JobSpec& job) {
    return std::tie(job.name, job.model, job.workers, job.gpus_per_worker, job.min_workers,
                    job.max_workers, job.cpus_per_worker, job.memory_gib_per_worker, job.gpu_types,
                    job.priority, job.no_requeue, job.duration, job.command, job.environment,
                    job.run);
  };
  return asked(client) == asked(home) && (client.queue.empty() || client.queue == home.queue);
}

}  // namespace

void ClientHistory::said(const Message& message) {
  const auto* submit = std::get_if<Submit>(&message);
  if (submit == nullptr) return;
  Story& story = stories_[submit->spec.id];
  if (!story.submitted) story.spec = submit->spec;
  story.submitted = true;
}

std::string ClientHistory::wrote(NodeId node, Incarnation life, const Record& record) {
  // A new life begins with what the last one had.
  const auto fact = [&](JobId job) -> Fact& {
    auto& facts = stories_[job].homes[node].facts;
    if (const auto at = facts.find(life); at != facts.end()) return at->second;
    const Fact last = facts.empty() ? Fact{} : facts.rbegin()->second;
    return facts.emplace(life, last).first->second;
  };
  if (const auto* accepted = std::get_if<JobAccepted>(&record)) {
    const Submit& submit = accepted->submit;
    fact(submit.spec.id) = Fact{true, submit.attempts, JobPhase::unknown};
    Story& story = stories_[submit.spec.id];
    Home& home = story.homes[node];
    home.most_attempts = std::max(home.most_attempts, submit.attempts);
    if (story.submitted && !same_wish(story.spec, submit.spec))
      return of(submit.spec.id, "is accepted otherwise than it was submitted");
  } else if (const auto* starting = std::get_if<AttemptStarting>(&record)) {
    Home& home = stories_[starting->attempt.job].homes[node];
    home.most_attempts = std::max(home.most_attempts, ++fact(starting->attempt.job).attempts);
  } else if (const auto* ended = std::get_if<JobEnded>(&record)) {
    fact(ended->job).end = ended->state.phase;
  } else if (const auto* moved = std::get_if<JobMoved>(&record)) {
    fact(moved->job).end = JobPhase::moved;
  } else if (std::holds_alternative<QueuesSet>(record)) {
    queued_.insert(node);
  } else if (std::holds_alternative<LifeBegan>(record)) {
    lives_[{node, life}] = servers_;
  }
  return {};
}

std::uint32_t ClientHistory::servers_of(NodeId home, Incarnation life) const {
  const auto began = lives_.find({home, life});
  return began == lives_.end() ? 0 : began->second;
}

bool ClientHistory::contradicts_itself(const Story& story, NodeId home) const {
  if (!queued_.contains(home)) return story.contradicts_itself();
  const Home& its = story.homes.at(home);
  if (its.accepted.empty()) return false;
  const auto& [life, sequence] = *its.accepted.begin();
  return its.refused > std::pair(life, sequence);
}

ClientHistory::Way ClientHistory::way_of(const JobState& state) {
  const int stage = [&] {
    switch (state.phase) {
      case JobPhase::starting:
        return 1;
      case JobPhase::running:
        return 2;
      case JobPhase::draining:
        return 3;
      case JobPhase::waiting:
        return 4;  // for the next attempt
      default:
        return 5;
    }
  }();
  return {state.forwards, state.attempts, stage};
}

std::string ClientHistory::goes_back(Home& home, Incarnation life, std::uint64_t sequence,
                                     const JobState& state) {
  auto& said = home.said[life];
  const Way way = way_of(state);
  const auto [at, fresh] = said.try_emplace(sequence, way);
  if (!fresh) return {};  // the same frame again
  const auto text = [&](const Way& other) {
    return std::string(name_of(state.phase)) + " with " + std::to_string(state.attempts) +
           " attempts, and its home had said something later before (" +
           std::to_string(std::get<1>(other)) + " attempts, stage " +
           std::to_string(std::get<2>(other)) + ")";
  };
  if (at != said.begin() && std::prev(at)->second > way)
    return "is said to be " + text(std::prev(at)->second);
  if (std::next(at) != said.end() && std::next(at)->second < way)
    return "was said to be " + text(std::next(at)->second);
  return {};
}

/// Of what earlier lives left behind. What this life itself wrote may be younger than its word.
std::string ClientHistory::knows_too_little(const Home& home, Incarnation life,
                                            const JobState& state) {
  auto at = home.facts.lower_bound(life);
  if (at == home.facts.begin()) return {};
  const Fact& before = std::prev(at)->second;
  if (state.phase == JobPhase::unknown)
    return before.accepted ? "is unknown to the home that had accepted it" : std::string{};
  if (terminal(before.end) && before.end != state.phase) {
    return std::string("is said to be ") + name_of(state.phase) + " and had ended as " +
           name_of(before.end) + " before that life began";
  }
  const bool came_back = at != home.facts.end() && at->first == life;  // and may have left again
  if (before.end == JobPhase::moved) {
    if (state.phase == JobPhase::moved || came_back) return {};
    return std::string("is said to be ") + name_of(state.phase) + " and had moved on before";
  }
  if (state.phase == JobPhase::moved || state.attempts >= before.attempts) return {};
  // It came back to this home meanwhile, and counts anew.
  if (at != home.facts.end() && at->second.attempts < before.attempts) return {};
  return "is said to have had " + std::to_string(state.attempts) + " attempts, and " +
         std::to_string(before.attempts) + " stood in the journal when that life began";
}

std::string ClientHistory::told_state(NodeId from, Incarnation life, std::uint64_t sequence,
                                      const JobState& state) {
  Story& story = stories_[state.job];
  if (!story.submitted) {
    if (state.phase == JobPhase::unknown) return {};
    return of(state.job, "has a state and was never submitted");
  }
  Home& home = story.homes[from];
  if (std::string wrong = knows_too_little(home, life, state); !wrong.empty())
    return of(state.job, wrong);
  if (state.phase == JobPhase::unknown) {
    const auto accepted = home.accepted.find(life);
    if (accepted != home.accepted.end() && accepted->second < sequence)
      return of(state.job, "is unknown to the home that had accepted it");
    return {};
  }
  if (state.phase == JobPhase::moved) return {};
  if (std::string wrong = goes_back(home, life, sequence, state); !wrong.empty())
    return of(state.job, wrong);
  if (state.attempts > home.most_attempts) {
    return of(state.job, "is said to have had " + std::to_string(state.attempts) +
                             " attempts, and the journal has " +
                             std::to_string(home.most_attempts));
  }
  if (!terminal(state.phase)) {
    const bool began = state.phase != JobPhase::waiting;
    if (began && state.attempts == 0)
      return of(state.job,
                std::string("is said to be ") + name_of(state.phase) + " without an attempt");
    return {};
  }
  if (story.end != JobPhase::unknown && story.end != state.phase) {
    return of(state.job, std::string("has ended as ") + name_of(state.phase) +
                             " and had ended as " + name_of(story.end));
  }
  story.end = state.phase;
  return {};
}

std::string ClientHistory::told(NodeId from, Incarnation life, std::uint64_t sequence,
                                const Message& message) {
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    Story& story = stories_[accepted->job];
    if (!story.submitted) return of(accepted->job, "is accepted and was never submitted");
    const std::uint32_t servers = servers_of(from, life);
    story.accepted = std::min(story.accepted.value_or(servers), servers);
    auto& first = story.homes[from].accepted;
    const auto at = first.try_emplace(life, sequence).first;
    at->second = std::min(at->second, sequence);
    if (contradicts_itself(story, from))
      return of(accepted->job, "is accepted and had been refused");
  } else if (const auto* rejected = std::get_if<Rejected>(&message);
             rejected != nullptr && rejected->why != Refusal::conflict) {
    Story& story = stories_[rejected->job];
    const std::uint32_t servers = servers_of(from, life);
    story.refused = std::max(story.refused.value_or(servers), servers);
    auto& last = story.homes[from].refused;
    last = std::max(last, {life, sequence});
    if (contradicts_itself(story, from))
      return of(rejected->job, "is refused and had been accepted");
  } else if (const auto* state = std::get_if<JobState>(&message)) {
    return told_state(from, life, sequence, *state);
  } else if (const auto* list = std::get_if<JobList>(&message)) {
    for (const JobState& job : list->jobs) {
      if (std::string wrong = told_state(from, life, sequence, job); !wrong.empty()) return wrong;
    }
  }
  return {};
}

std::string ClientHistory::shows(NodeId client, std::span<const JobOutcome> jobs) {
  // After each of its cycles: so no job is looked up.
  std::vector<Shown>& shown = shown_[client];
  if (shown.size() < jobs.size()) shown.resize(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& job = jobs[i];
    Shown& last = shown[i];
    const bool over = job.over();
    if (!job.accepted && !over && !last.accepted && !last.over) continue;
    // What is as it was contradicts nothing.
    if (last.accepted == job.accepted && last.over == over && last.phase == job.state.phase &&
        last.home == job.home && std::get<0>(last.way) == job.state.forwards &&
        std::get<1>(last.way) == job.state.attempts)
      continue;
    const Shown now{over, job.accepted, job.state.phase, job.home, way_of(job.state)};
    if (last.over && (!now.over || now.phase != last.phase))
      return of(job.job, "was over for its client, and is not as it was");
    if (last.accepted && !now.accepted)
      return of(job.job, "was accepted for its client and is no longer");
    const bool compares = !now.over && last.home == now.home &&
                          std::get<0>(last.way) == std::get<0>(now.way) &&
                          last.phase != JobPhase::unknown && now.phase != JobPhase::unknown;
    if (compares && std::get<1>(now.way) < std::get<1>(last.way))
      return of(job.job, "has had fewer attempts for its client than before");
    last = now;
  }
  return {};
}

}  // namespace starling
