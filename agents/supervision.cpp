// SPDX-License-Identifier: Apache-2.0
#include "agents/supervision.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"

namespace starling {
namespace {

/// One that is refused says so within this.
constexpr Duration kTrial = std::chrono::seconds(5);

std::string seconds_text(Duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds(d));
  return text;
}

}  // namespace

Supervision::Supervision(SupervisionRules rules, const std::vector<std::string>& names)
    : rules_(rules) {
  for (const std::string& name : names) {
    daemons_.emplace_back();
    daemons_.back().name = name;
  }
}

bool Supervision::away(std::size_t who) const {
  const Supervised& d = daemons_.at(who);
  return d.wanted && (d.over || d.ends >= rules_.away_after);
}

bool Supervision::refused(std::size_t who) const {
  const Supervised& d = daemons_.at(who);
  return away(who) && d.how == DaemonEnd::refused && (d.over || d.refusals >= rules_.refused_after);
}

void Supervision::ended(Instant now, const DaemonEnded& end, SupervisionOutput& out) {
  Supervised& d = daemons_.at(end.who);
  STARLING_CHECK(d.up);
  d.up = false;
  if (stopped_) return;
  if (!d.wanted && end.how == DaemonEnd::well) {
    d.note = "is no member any more and has ended";
    out.say.push_back(d.name + " " + d.note);
    return;
  }
  const bool other = d.how != end.how;
  const bool settled = now - d.since >= rules_.settled;
  d.note = end.what;
  d.how = end.how;
  d.ends = settled ? 1 : d.ends + 1;
  d.refusals = end.how != DaemonEnd::refused ? 0 : settled ? 1 : d.refusals + 1;
  if (!d.wanted) {
    out.say.push_back(d.name + " " + d.note + "; it is no member any more");
    return;
  }
  if (!rules_.restart) {
    d.over = true;
    out.say.push_back(d.name + " " + d.note + "; not starting it again");
    return;
  }
  d.pause = d.ends == 1 ? rules_.first_pause : std::min(2 * d.pause, rules_.longest_pause);
  if (d.refusals >= rules_.refused_after) d.pause = rules_.longest_pause;
  d.due = later(now, d.pause);
  const std::string who = d.name + " " + d.note;
  if (d.refusals == rules_.refused_after) {
    out.say.push_back(who + "; it is refused: the others go on without it, and it is tried again " +
                      "every " + seconds_text(d.pause) + " and when its files change");
  } else if (d.ends == rules_.away_after) {
    out.say.push_back(who + "; the others go on without it, and it is tried again after pauses " +
                      "of up to " + seconds_text(rules_.longest_pause));
  } else if (other || d.ends < rules_.away_after) {
    out.say.push_back(who + "; starting " + d.name + " again in " + seconds_text(d.pause));
  }
}

void Supervision::settle(Instant now, SupervisionOutput& out) {
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    Supervised& d = daemons_[i];
    if (!d.up || d.ends == 0 || now - d.since < rules_.settled) continue;
    if (away(i)) out.say.push_back(d.name + " is well again");
    d.ends = d.refusals = 0;
    d.note.clear();
  }
}

void Supervision::step(Instant now, const SupervisionEvent& event, SupervisionOutput& out) {
  if (const auto* end = std::get_if<DaemonEnded>(&event)) {
    ended(now, *end, out);
  } else if (const auto* wanted = std::get_if<DaemonWanted>(&event)) {
    Supervised& d = daemons_.at(wanted->who);
    if (wanted->wanted && !d.wanted) {
      d.ends = d.refusals = 0;
      d.over = false;
      d.due = now;
      d.note.clear();
      if (!d.up) out.say.push_back(d.name + " is a member now, starting it");
    } else if (!wanted->wanted && d.wanted && !d.up && d.starts > 0 && d.how == DaemonEnd::well) {
      d.note = "is no member any more and has ended";  // it knew sooner
      out.say.push_back(d.name + " " + d.note);
    }
    d.wanted = wanted->wanted;
  } else if (const auto* mended = std::get_if<DaemonMended>(&event)) {
    Supervised& d = daemons_.at(mended->who);
    d.due = std::min(d.due, now);  // read of those alone that are down and not over
  } else if (std::holds_alternative<SupervisionStop>(event)) {
    stopped_ = true;
  }
  if (stopped_ || !std::holds_alternative<SupervisionTick>(event)) return;
  settle(now, out);
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    Supervised& d = daemons_[i];
    if (d.up || d.over || !d.wanted || now < d.due) continue;
    d.up = true;
    d.since = now;
    ++d.starts;
    out.start.push_back(i);
  }
}

std::string outlook(const Supervised& d, Instant now) {
  if (!d.wanted) return "no member";
  if (d.over) return "not started again";
  if (d.up && d.refusals > 0 && now - d.since < kTrial) return "being tried again";
  if (d.up) return "up again";
  return "tried again in " + seconds_text(std::max(d.due - now, Duration::zero()));
}

}  // namespace starling
