// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/reasons.h"

#include <algorithm>
#include <cstdio>

#include "base/counted.h"
#include "policies/placement/scorer.h"

namespace starling {
namespace {

const char* name_of(CandidateKind kind) {
  switch (kind) {
    case CandidateKind::tight:
      return "free GPUs, tight";
    case CandidateKind::rack:
      return "free GPUs of one rack";
    case CandidateKind::spread:
      return "free GPUs, spread";
    case CandidateKind::beside:
      return "beside one job";
    case CandidateKind::server:
      return "on one server, beside several";
  }
  return "";
}

/// The score of an option; blank where it is out of the question.
std::string score_text(double score) {
  if (score <= Scorer::kLast) return "       -";
  char text[40];
  std::snprintf(text, sizeof text, "%+8.3f", score);
  return text;
}

}  // namespace

Reasons::Option Reasons::seen(const PlacementOption& option) {
  Option out;
  out.kind = option.kind;
  if (option.kind == OptionKind::start) {
    const Candidate& place = *option.place;
    out.place = place.kind;
    out.first_gpu = place.placement.front().value;
    out.gpus = static_cast<std::uint32_t>(place.placement.size());
    out.own = static_cast<float>(place.own);
    out.inflicted_loss =
        static_cast<float>(static_cast<double>(place.inflicted_loss()) / static_cast<double>(kGpu));
    for (const Candidate::Loss& loss : place.losses)
      out.slowest = std::min(out.slowest, static_cast<float>(loss.after));
  } else if (option.kind == OptionKind::forward) {
    out.has_room = option.destination->starts;
    out.to = option.destination->to;
    out.own = static_cast<float>(option.destination->speed);
  } else if (option.kind == OptionKind::co_allocate) {
    out.gpus = static_cast<std::uint32_t>(option.plan->share.size());
    out.elsewhere = option.plan->elsewhere;
    out.open = option.plan->open;
    out.own = static_cast<float>(option.plan->speed);
  } else if (option.room != nullptr) {
    out.first_gpu = option.room->place.front().value;
    out.gpus = static_cast<std::uint32_t>(option.room->place.size());
    out.open = option.room->stops.size();
  }
  return out;
}

void Reasons::note(JobId job, Instant now, double work_s, std::span<const PlacementOption> options,
                   std::span<const double> scores, std::size_t taken, bool scored,
                   std::string_view remark) {
  if (ring_.empty()) ring_.resize(kKept);
  // The same job that waits on and on is one reason.
  const std::size_t last = (next_ + kKept - 1) % kKept;
  Reason& reason = ring_[ring_[last].job == job ? last : next_];
  if (&reason == &ring_[next_]) next_ = (next_ + 1) % kKept;
  reason.job = job;
  reason.number = ++notes_;
  reason.at = now;
  reason.taken = options[taken].kind;
  if (reason.taken == OptionKind::forward) reason.to = options[taken].destination->to;
  reason.work_s = work_s;
  reason.scored = scored;
  reason.options = static_cast<std::uint32_t>(options.size());
  reason.kept = 0;
  reason.refused.reset();
  reason.remark = remark;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::size_t at = reason.kept;
    while (at > 0 && reason.best[at - 1].score < scores[i]) --at;
    if (at >= kOptions) continue;
    reason.kept = std::min<std::uint32_t>(reason.kept + 1, kOptions);
    for (std::size_t k = reason.kept - 1; k > at; --k) reason.best[k] = reason.best[k - 1];
    Option& option = reason.best[at];
    option = seen(options[i]);
    option.score = scores[i];
    option.taken = i == taken;
  }
}

std::string Reasons::line_of(const Option& o, bool figure) {
  char text[240];
  const std::string mark = std::string("  ") + (o.taken ? "taken" : "     ") + ' ';
  if (o.kind == OptionKind::wait) {
    std::snprintf(text, sizeof text, "wait");
  } else if (o.kind == OptionKind::forward) {
    std::snprintf(text, sizeof text, "go to agent %u, which %s: speed alone %.2f of its best",
                  o.to.value, o.has_room ? "has room" : "has no room", static_cast<double>(o.own));
  } else if (o.kind == OptionKind::co_allocate && o.open > 0) {
    std::snprintf(text, sizeof text,
                  "ask for a gang over several partitions that shares GPUs, %llu of which have one "
                  "job: speed alone %.2f of its best",
                  static_cast<unsigned long long>(o.open), static_cast<double>(o.own));
  } else if (o.kind == OptionKind::co_allocate) {
    std::snprintf(text, sizeof text,
                  "ask for a gang over several partitions, %u GPUs of it here, %llu such free "
                  "elsewhere: speed alone %.2f of its best",
                  o.gpus, static_cast<unsigned long long>(o.elsewhere), static_cast<double>(o.own));
  } else if (o.kind == OptionKind::stop_and_start) {
    const std::string jobs = counted(o.open, "job");
    std::snprintf(text, sizeof text, "%u from GPU %u, once %s of a lower priority %s stopped",
                  o.gpus, o.first_gpu, jobs.c_str(), o.open == 1 ? "has" : "have");
  } else if (o.kind == OptionKind::resize) {
    std::snprintf(text, sizeof text, "stop, and start with all it asks for: %u from GPU %u", o.gpus,
                  o.first_gpu);
  } else if (o.own > 0) {
    std::snprintf(text, sizeof text,
                  "%s, %u from GPU %u: own speed %.2f of its best, others lose %.2f GPUs, the "
                  "slowest runs at %.2f of its best",
                  name_of(o.place), o.gpus, o.first_gpu, static_cast<double>(o.own),
                  static_cast<double>(o.inflicted_loss), static_cast<double>(o.slowest));
  } else {
    std::snprintf(text, sizeof text, "%u from GPU %u", o.gpus, o.first_gpu);
  }
  return mark + (figure ? score_text(o.score) + "  " : "") + text;
}

std::size_t Reasons::find(JobId job) const {
  std::size_t found = kKept;
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    if (ring_[i].job == job && ring_[i].options > 0 &&
        (found == kKept || ring_[i].number > ring_[found].number))
      found = i;
  }
  return found;
}

void Reasons::refused(const Feedback& feedback) {
  const std::size_t at = find(feedback.job());
  if (at == kKept) return;
  Reason& reason = ring_[at];
  const auto& decision = feedback.decision;
  const auto* forward = std::get_if<Forward>(&decision);
  const bool it_was =
      (reason.taken == OptionKind::start && std::holds_alternative<Start>(decision)) ||
      (reason.taken == OptionKind::co_allocate && std::holds_alternative<Spread>(decision)) ||
      (reason.taken == OptionKind::resize && std::holds_alternative<Resize>(decision)) ||
      (reason.taken == OptionKind::forward && forward != nullptr && reason.to == forward->to);
  if (it_was) reason.refused = feedback.why;
}

std::vector<std::string> Reasons::explain(JobId job, std::string_view score_is) const {
  const std::size_t newest = find(job);
  if (newest == kKept) return {};
  const Reason& found = ring_[newest];
  char text[80];
  std::snprintf(text, sizeof text, "policy: %s at %.0f s", counted(found.options, "option").c_str(),
                seconds(found.at.time_since_epoch()));
  std::string head = text;
  if (found.options > found.kept) head += ", the best " + std::to_string(found.kept);
  const bool figures = found.scored && !score_is.empty();
  if (figures) {
    head += found.options > 1 ? ", by " : ", its figure: ";
    head += score_is;
  }
  if (found.work_s > 0) {
    std::snprintf(text, sizeof text, "; expected to take %.0f s", found.work_s);
    head += text;
  }
  std::vector<std::string> lines{head + ':'};
  if (!found.remark.empty()) lines.push_back("  " + std::string(found.remark));
  if (found.refused) lines.push_back(std::string("  refused: ") + name_of(*found.refused));
  for (std::uint32_t i = 0; i < found.kept; ++i) lines.push_back(line_of(found.best[i], figures));
  return lines;
}

}  // namespace starling
