// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/deployment/deployment.h"
#include "launch/hardware/energy_book.h"
#include "launch/history/usage.h"
#include "launch/jobs/job_filter.h"
#include "launch/jobs/split.h"

namespace starling {
namespace {

struct Options {
  std::string flock, since, until, by;
  JobFilter filter;
  bool json = false, csv = false;
};

/// `invalid` names the option.
Result<Period> period_of(const Options& o, Date now) {
  Period period;
  const auto read = [&](const char* option, const std::string& text,
                        std::optional<Date>& into) -> Status {
    if (text.empty()) return done();
    into = parse_date(text, now);
    if (into) return done();
    return {Errc::invalid, std::string(option) + ": '" + text +
                               "' is no date; write 2026-11-23, '2026-11-23 12:30' or how long "
                               "ago, as 2h or 30d"};
  };
  if (Status s = read("--since", o.since, period.from); !s.ok()) return s.error();
  if (Status s = read("--until", o.until, period.until); !s.ok()) return s.error();
  if (period.from && period.until && *period.from >= *period.until)
    return {Errc::invalid, "--until: '" + o.until + "' is not after --since '" + o.since + "'"};
  return period;
}

int history(const Options& o) {
  if (o.json && o.csv) return bad_input("history: --json and --csv exclude each other");
  const Date now = std::chrono::system_clock::now();
  if (const auto right = o.filter.check(now); !right.ok())
    return bad_input("history: " + right.error().message);
  const auto period = period_of(o, now);
  if (!period) return bad_input("history: " + period.error().message);
  const std::vector<std::string> by = split(o.by, ',');
  if (const auto right = sums_of({}, by, period.value(), now); !right)
    return bad_input("history: " + right.error().message);
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  auto all = flock.jobs();
  if (!all) return failed({all.error().code, "history: " + all.error().message});
  const auto chosen = o.filter.choose(std::move(all.value().jobs), flock.user(), now);
  if (!chosen) return failed(chosen.error());
  const std::vector<Usage> usages =
      usage_of(chosen.value(), flock.topology(), energy_of_jobs(flock.deployment().dir / "nodes"),
               period.value(), now);
  const std::vector<AgentId>& silent = all.value().silent;
  std::string text;
  if (by.empty()) {
    text = o.json  ? usage_json(usages, silent)
           : o.csv ? usage_csv(usages)
                   : usage_text(usages, now);
  } else {
    const auto sums = sums_of(usages, by, period.value(), now).value();
    text = o.json ? sums_json(sums, by, silent) : o.csv ? sums_csv(sums, by) : sums_text(sums, by);
  }
  std::fputs(text.c_str(), stdout);
  if (silent.empty()) return kDone;
  return work_failed("history: " + silence_text(silent) + "; what lived there is missing here");
}

}  // namespace

void add_history(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("history", "which jobs used what, when and for whom; sums by user, queue or month");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.option("--user", o->filter.users, "USER[,..]", "jobs of these users; me: your own");
  command.option("--queue", o->filter.queues, "QUEUE[,..]", "jobs of these queues");
  command.option("--name", o->filter.names, "NAME[,..]", "jobs with these names; * is anything");
  command.option("--state", o->filter.states, "STATE[,..]", "jobs in these states (as in jobs)");
  command.option("--since", o->since, "DATE",
                 "what was used from then on: 2026-11-23, or how long ago, as 30d");
  command.option("--until", o->until, "DATE", "what was used before then");
  command.option("--by", o->by, "KEY[,..]",
                 "sums for each user, queue, type (of GPU), state or month, or several of them");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("--csv", o->csv, "CSV with all fields");
  command.examples({"starling history --user me --since 7d",
                    "starling history --by user,month --since 2026-01-01 --csv",
                    "starling history --by queue --since 2026-11-01 --until 2026-12-01"});
  command.action([o] { return history(*o); });
}

}  // namespace starling
