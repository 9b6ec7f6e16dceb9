// SPDX-License-Identifier: Apache-2.0
#include "gnn/reasons.h"

#include <algorithm>
#include <cstdio>

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

}  // namespace

void Reasons::note(JobId job, Instant now, double work_s, std::span<const Candidate* const> options,
                   std::span<const Destination> destinations, std::span<const float> scores,
                   std::size_t taken) {
  if (ring_.empty()) ring_.resize(kKept);
  // The same job that waits on and on is one reason.
  const std::size_t last = (next_ + kKept - 1) % kKept;
  Reason& reason = ring_[ring_[last].job == job ? last : next_];
  if (&reason == &ring_[next_]) next_ = (next_ + 1) % kKept;
  reason.job = job;
  reason.at = now;
  reason.work_s = work_s;
  reason.options = static_cast<std::uint32_t>(options.size());
  reason.kept = 0;
  std::size_t next = 0;  // of destinations
  for (std::size_t i = 0; i < options.size(); ++i) {
    Option option;
    option.score = scores[i];
    option.taken = i == taken;
    if (const Candidate* c = options[i]; c != nullptr) {
      option.kind = c->kind;
      option.first_gpu = c->placement.front().value;
      option.gpus = static_cast<std::uint32_t>(c->placement.size());
      option.own = static_cast<float>(c->own);
      option.harm = static_cast<float>(static_cast<double>(c->harm()) / static_cast<double>(kGpu));
      for (const Candidate::Loss& loss : c->losses)
        option.slowest = std::min(option.slowest, static_cast<float>(loss.after));
    } else if (next < destinations.size()) {
      option.leaves = true;
      option.starts = destinations[next].starts;
      option.first_gpu = destinations[next].to.value;
      option.own = static_cast<float>(destinations[next].speed);
      ++next;
    } else {
      option.waits = true;
    }
    std::size_t at = reason.kept;
    while (at > 0 && reason.best[at - 1].score < option.score) --at;
    if (at >= kOptions) continue;
    reason.kept = std::min<std::uint32_t>(reason.kept + 1, kOptions);
    for (std::size_t k = reason.kept - 1; k > at; --k) reason.best[k] = reason.best[k - 1];
    reason.best[at] = option;
  }
}

std::vector<std::string> Reasons::explain(JobId job) const {
  std::vector<std::string> lines;
  // Newest first.
  const Reason* found = nullptr;
  for (const Reason& reason : ring_) {
    if (reason.job == job && reason.options > 0 && (found == nullptr || reason.at > found->at))
      found = &reason;
  }
  if (found == nullptr) return lines;
  char text[200];
  std::snprintf(text, sizeof text,
                "policy: %u options at %.0f s, the best %u by score; expected to take %.0f s:",
                found->options, seconds(found->at.time_since_epoch()), found->kept, found->work_s);
  lines.emplace_back(text);
  for (std::uint32_t i = 0; i < found->kept; ++i) {
    const Option& o = found->best[i];
    const char* const mark = o.taken ? "taken" : "     ";
    if (o.waits) {
      std::snprintf(text, sizeof text, "  %s %+8.3f  wait", mark, static_cast<double>(o.score));
    } else if (o.leaves) {
      std::snprintf(text, sizeof text, "  %s %+8.3f  go to agent %u, which %s: speed alone %.2f",
                    mark, static_cast<double>(o.score), o.first_gpu,
                    o.starts ? "has room" : "has no room", static_cast<double>(o.own));
    } else {
      std::snprintf(text, sizeof text,
                    "  %s %+8.3f  %s, %u from GPU %u: own speed %.2f, others lose %.2f GPUs, the "
                    "slowest runs at %.2f",
                    mark, static_cast<double>(o.score), name_of(o.kind), o.gpus, o.first_gpu,
                    static_cast<double>(o.own), static_cast<double>(o.harm),
                    static_cast<double>(o.slowest));
    }
    lines.emplace_back(text);
  }
  return lines;
}

}  // namespace starling
