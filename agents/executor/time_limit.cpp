// SPDX-License-Identifier: Apache-2.0
// How long an attempt may run. Its executor counts, so that it holds whatever becomes of its owner
// and home; each executor of a gang for itself.
#include <algorithm>

#include "agents/executor/executor_step.h"
#include "base/counted.h"
#include "base/marks.h"
#include "base/short_number.h"

namespace starling {

/// Its next look: at the warning, or at the limit.
void ExecutorStep::watch_limit(AttemptId attempt, Run& run) {
  const JobTerms& terms = run.launch.spec.terms;
  Instant when = kNever;
  if (terms.time_limit > Duration{0} && run.phase == Run::Phase::running) {
    when = later(run.began, terms.time_limit);
    if (terms.signal > 0 && !run.warned) when -= std::min(terms.signal_before, terms.time_limit);
  }
  s.limits.move(attempt, run.limit, when);
}

void ExecutorStep::at_limit(AttemptId attempt, Run& run) {
  const JobTerms& terms = run.launch.spec.terms;
  if (later(run.began, terms.time_limit) <= now) {
    STARLING_MARK("executor: a time limit is over");
    stop(run,
         {-15, false,
          "stopped at its time limit of " + short_number(seconds(terms.time_limit)) + " s", true});
  } else if (run.phase == Run::Phase::running) {
    STARLING_MARK("executor: a time limit is near");
    run.warned = true;
    out.run.push_back(SignalSpec{attempt, terms.signal});
  }
  watch_limit(attempt, run);
}

/// What an earlier life started has run for as long as it was measured.
void ExecutorStep::measured(const Progress& progress) {
  const auto known = s.runs.find(progress.attempt);
  if (known == s.runs.end()) return;
  Run& run = known->second;
  run.progress = progress;
  run.measured = true;
  if (!run.recovered || now - progress.served >= run.began) return;
  run.began = now - progress.served;
  watch_limit(progress.attempt, run);
}

}  // namespace starling
