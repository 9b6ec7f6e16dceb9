#include "sim/client_history.h"

namespace starling {

void ClientHistory::said(const Message& message) {
  if (const auto* submit = std::get_if<Submit>(&message)) {
    stories_[submit->spec.id].submitted = true;
  }
}

std::string ClientHistory::told(NodeId from, Incarnation life, const Message& message) {
  const auto wrong = [](JobId job, const std::string& what) {
    return "job " + to_string(job) + " " + what;
  };
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    Story& story = stories_[accepted->job];
    if (!story.submitted) return wrong(accepted->job, "is accepted and was never submitted");
    if (story.refused) return wrong(accepted->job, "is accepted and had been refused");
    story.accepted_by.emplace(from, life);
  } else if (const auto* rejected = std::get_if<Rejected>(&message)) {
    Story& story = stories_[rejected->job];
    if (!story.accepted_by.empty())
      return wrong(rejected->job, "is refused and had been accepted");
    story.refused = true;
  } else if (const auto* state = std::get_if<JobState>(&message)) {
    Story& story = stories_[state->job];
    if (!story.submitted) return wrong(state->job, "has a state and was never submitted");
    // A deposed owner knows less, and does not know that it is one.
    const auto accepted_it = story.accepted_by.find(from);
    if (state->phase == JobPhase::unknown && accepted_it != story.accepted_by.end() &&
        life >= accepted_it->second) {
      return wrong(state->job, "is unknown to the home that had accepted it");
    }
    if (!terminal(state->phase)) return {};
    if (story.end != JobPhase::unknown && story.end != state->phase) {
      return wrong(state->job, std::string("has ended as ") + name_of(state->phase) +
                                   " and had ended as " + name_of(story.end));
    }
    story.end = state->phase;
  }
  return {};
}

}  // namespace starling
