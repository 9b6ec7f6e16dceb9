// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_options.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "launch/jobs/split.h"
#include "launch/system/text.h"
#include "workload/terms_text.h"

namespace starling {
namespace {

constexpr JobOption kOptions[] = {
    {"--name", "NAME", "name", "default is the program's"},
    {"--gpus", "N", "gpus_per_worker", "GPUs per worker (default 1)"},
    {"--workers", "N", "workers", "processes, started together (default 1)"},
    {"--gpu-type", "NAME,..", "gpu_types", "only on such GPUs"},
    {"--min-workers", "N", "min_workers", "elastic: it can do with so many"},
    {"--max-workers", "N", "max_workers", "elastic: it can use so many"},
    {"--cpus", "X", "cpus", "CPUs per worker"},
    {"--memory-gib", "X", "memory_gib", "memory per worker"},
    {"--max-servers", "N", "max_servers", "it trains by parameter servers, so many at most"},
    {"--server-cpus", "X", "server_cpus", "CPUs of each parameter server"},
    {"--batch", "N", "batch", "samples of one step at the size asked for"},
    {"--max-batch", "N", "max_batch", "the largest batch that it can do with"},
    {"--copies", "yes|no", "copies", "yes: it may run as copies that are averaged (default no)"},
    {"--save-s", "X", "save_s", "seconds that a stop costs it"},
    {"--restore-s", "X", "restore_s", "seconds from a start to the first step"},
    {"--priority", "N", "priority", "larger is more urgent (default 0)"},
    {"--requeue", "yes|no", "requeue", "no: once started, it is never started again (default yes)"},
    {"--user", "NAME", "user",
     "whose it is (default: you); of users that a flock knows only root names another"},
    {"--duration", "TIME", "duration_s",
     "how long it runs: 90 (s), 2h; without a command it is emulated"},
    {"--queue", "NAME", "queue",
     "queue whose GPUs it may have; where there are none, a word for filters and figures"},
    {"--model", "NAME", "model", "what it trains, for forecasts of its speed"},
    {"--directory", "DIR", "directory", "to run in (default: the present one)"},
    {"--environment", "WHAT", "environment",
     "all (default), none, or NAME,.. of the present one; NAME=VALUE sets one"},
    {"--hold", nullptr, "hold", "it waits until it is released"},
    {"--begin", "TIME", "begin", "not before: 2027-01-31T16:00, 16:00, or +2h"},
    {"--after", "HOW:JOB,..", "after", "only once these have ended: ok:JOB, any:JOB, notok:JOB"},
    {"--retries", "N", "retries", "try it again so often where it fails (default 0)"},
    {"--retry-after", "TIME", "retry_after_s",
     "pause before the first of these, then twice as long each time (default 10 s)"},
    {"--time-limit", "TIME", "time_limit", "stop it after so long: 90 (s), 2h, 1-12:00:00"},
    {"--signal", "SIG@S", "signal", "send it SIG, S seconds before that: USR1@60"},
    {"--array", "TASKS", "array", "a job for each: 0-99, 1,3,5; 0-999%50: 50 of them at once"},
};

Status wrong(const std::string& flag, const std::string& text, const std::string& right) {
  return {Errc::invalid, flag + ": '" + text.substr(0, 64) + "' is wrong, give " + right};
}

Status whole(const std::string& flag, const std::string& text, std::uint32_t most,
             std::uint32_t& target) {
  const auto n = parse_whole(text);
  if (!n || *n < 1 || *n > most)
    return wrong(flag, text, "a whole number from 1 to " + std::to_string(most));
  target = static_cast<std::uint32_t>(*n);
  return done();
}

Status amount(const std::string& flag, const std::string& text, double& target) {
  const auto x = parse_decimal(text);
  if (!x || *x < 0) return wrong(flag, text, "a number of at least 0");
  target = *x;
  return done();
}

Status time(const std::string& flag, const std::string& text, Duration& target) {
  const auto x = parse_decimal(text);
  if (!x || *x < 0 || from_seconds(*x) > RunDetails::kMostRestart)
    return wrong(flag, text, "seconds from 0 to 604800");
  target = from_seconds(*x);
  return done();
}

Status set_run(const std::string& flag, const std::string& text, RunDetails& run) {
  if (flag == "--max-servers") return whole(flag, text, RunDetails::kMost, run.max_servers);
  if (flag == "--server-cpus") return amount(flag, text, run.server_cpus);
  if (flag == "--batch") return whole(flag, text, RunDetails::kMost, run.batch);
  if (flag == "--max-batch") return whole(flag, text, RunDetails::kMost, run.max_batch);
  if (flag == "--save-s") return time(flag, text, run.save);
  if (flag == "--restore-s") return time(flag, text, run.restore);
  if (flag == "--copies") {
    if (text != "yes" && text != "no") return wrong(flag, text, "yes or no");
    run.copies = text == "yes";
  }
  return done();
}

/// What a text means by `parse`, or what would be right.
template <class Value, class Parse>
Status meaning(const std::string& flag, const std::string& text, Parse parse, Value& target) {
  auto said = parse(text);
  if (!said) return {Errc::invalid, flag + ": " + said.error().message};
  target = std::move(said).value();
  return done();
}

Status set_terms(const std::string& flag, const std::string& text, JobSpec& spec) {
  JobTerms& terms = spec.terms;
  if (flag == "--hold") terms.hold = true;
  if (flag == "--begin") {
    const auto now =
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
    return meaning(
        flag, text, [&](const auto& t) { return parse_begin(t, now); }, terms.begin);
  }
  if (flag == "--after") {  // whoever knows the flock finds them
    std::vector<AfterText> ignored;
    return meaning(flag, text, parse_after, ignored);
  }
  if (flag == "--retries") return whole(flag, text, JobTerms::kMostRetries, terms.retries);
  if (flag == "--retry-after") return meaning(flag, text, parse_time, terms.retry_after);
  if (flag == "--time-limit") return meaning(flag, text, parse_time, terms.time_limit);
  if (flag == "--signal") {
    SignalText said;
    if (Status right = meaning(flag, text, parse_signal, said); !right.ok()) return right;
    terms.signal = said.number, terms.signal_before = said.before;
  }
  if (flag == "--array") {
    ArrayText said;
    if (Status right = meaning(flag, text, parse_array, said); !right.ok()) return right;
    spec.array_tasks = std::move(said.tasks), terms.at_once = said.at_once;
  }
  return done();
}

Status set(const std::string& flag, const std::string& text, JobSpec& spec) {
  if (flag == "--name") spec.name = text;
  if (flag == "--queue") spec.queue = text;
  if (flag == "--user") spec.user = text;
  if (flag == "--model") spec.model = text;
  if (flag == "--gpus") return whole(flag, text, 1024, spec.gpus_per_worker);
  if (flag == "--workers") return whole(flag, text, 8192, spec.workers);
  if (flag == "--min-workers") return whole(flag, text, 8192, spec.min_workers);
  if (flag == "--max-workers") return whole(flag, text, 8192, spec.max_workers);
  if (flag == "--cpus") return amount(flag, text, spec.cpus_per_worker);
  if (flag == "--memory-gib") return amount(flag, text, spec.memory_gib_per_worker);
  if (flag == "--gpu-type") spec.gpu_types = split(text, ',');
  if (flag == "--requeue") {
    if (text != "yes" && text != "no") return wrong(flag, text, "yes or no");
    spec.no_requeue = text == "no";
  }
  if (flag == "--duration") {
    if (Status right = meaning(flag, text, parse_time, spec.duration); !right.ok()) return right;
    if (spec.duration == Duration::zero()) return wrong(flag, text, "a time above 0, as 90 or 2h");
  }
  if (flag == "--priority") {
    const bool below = !text.empty() && text[0] == '-';
    const auto n = parse_whole(below ? text.substr(1) : text);
    if (!n || *n > 1'000'000) return wrong(flag, text, "a whole number from -1000000 to 1000000");
    spec.priority = static_cast<std::int32_t>(*n) * (below ? -1 : 1);
  }
  if (Status right = set_terms(flag, text, spec); !right.ok()) return right;
  return set_run(flag, text, spec.run);
}

}  // namespace

std::span<const JobOption> job_options() { return kOptions; }

const JobOption* job_option(const std::string& flag) {
  for (const JobOption& option : kOptions) {
    if (flag == option.flag) return &option;
  }
  return nullptr;
}

Status set_options(const JobOptions& options, JobSpec& spec) {
  for (const auto& [flag, text] : options) {
    if (Status set_it = set(flag, text, spec); !set_it.ok()) return set_it;
  }
  // One bound of an elastic job alone: the other is what it asks for.
  const bool low = options.contains("--min-workers"), high = options.contains("--max-workers");
  if (low && !options.contains("--workers"))
    spec.workers = std::max(spec.workers, spec.min_workers);
  if (low && !high && spec.max_workers == 0) spec.max_workers = spec.workers;
  if (high && !low && spec.min_workers == 0) spec.min_workers = spec.workers;
  return done();
}

}  // namespace starling
