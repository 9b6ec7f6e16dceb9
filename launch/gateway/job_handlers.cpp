// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/visible.h"
#include "launch/client/flock_client.h"
#include "launch/client/pending_submit.h"
#include "launch/client/placeable.h"
#include "launch/gateway/gateway_handlers.h"
#include "launch/gateway/handler_parts.h"
#include "launch/jobs/job_filter.h"
#include "workload/job_file.h"

namespace starling {
namespace {

using Json = nlohmann::json;

/// What is cancelled within so long is answered as ended.
constexpr Duration kCancelWait = std::chrono::seconds(2);
constexpr Duration kAskPatience = std::chrono::seconds(5);

bool readable(const FlockPicturePtr& picture) {
  return picture != nullptr && picture->topology != nullptr;
}

JobId job_of(const GatewayCall& call) { return parse_job_id(call.text("job")).value(); }

/// A list's answer: `jobs` are chosen, oldest first.
HttpAnswer listed(const FlockPicture& picture, std::vector<JobState> jobs,
                  const GatewayCall& call) {
  std::reverse(jobs.begin(), jobs.end());
  std::size_t first = 0;
  if (call.has("after")) {
    const auto after = parse_job_id(call.text("after"));
    const auto at = std::find_if(jobs.begin(), jobs.end(),
                                 [&](const JobState& s) { return s.job == after.value(); });
    if (at == jobs.end()) {
      return http_error(400, "invalid",
                        "after: no job of this list has that id any more; begin again without it");
    }
    first = static_cast<std::size_t>(at - jobs.begin()) + 1;
  }
  const std::size_t end = std::min(jobs.size(), first + call.number("limit", 100));
  Json list = Json::array(), silent = Json::array();
  for (std::size_t i = first; i < end; ++i) list.push_back(job_json(picture, jobs[i], false));
  for (const AgentId agent : picture.silent) silent.push_back(agent.value);
  return json_answer({{"as_of", picture_date(picture)},
                      {"silent", silent},
                      {"total", jobs.size()},
                      {"next", end < jobs.size() ? Json(to_string(jobs[end - 1].job)) : Json()},
                      {"jobs", list}});
}

/// The jobs of the picture, and those that are newer.
std::vector<JobState> all_of(const FlockPicture& picture,
                             const std::unordered_map<JobId, JobState>& news) {
  std::vector<JobState> jobs;
  jobs.reserve(picture.jobs.size() + news.size());
  for (const JobState& state : picture.jobs)
    if (!news.contains(state.job)) jobs.push_back(state);
  for (const auto& [id, state] : news) jobs.push_back(state);
  return jobs;
}

/// A request's job, checked as one of a job file is.
Result<JobSpec> spec_of(const GatewayCall& call) {
  const Json& file = call.body;
  auto read = parse_job_file("the body", file.dump());
  if (!read) return read.error();
  if (read.value().size() != 1) return {Errc::invalid, "the body has to be one job"};
  JobSpec job = std::move(read.value().front());
  if (!file.contains("name") && !job.command.empty()) {
    const std::string& program = job.command.front();
    job.name = program.substr(program.rfind('/') + 1);
  }
  job.user = call.caller.user;
  return job;
}

/// The answer for a job that was taken: as it is, and what its user should know.
HttpAnswer taken(const FlockPicture& picture, const JobState& state, const JobSpec& job) {
  Json said = job_json(picture, state, true);
  const std::string unknown = unknown_gpu_types(*picture.topology, job);
  if (!unknown.empty()) said["warnings"] = {unknown};
  return json_answer(said);
}

/// Once it is accepted under an id that was given: the job that has it, if it is this one, or what
/// was submitted before under the same id.
void answer_once_compared(GatewayFlock& flock, const HttpReply& reply, const JobSpec& job,
                          const JobState& accepted) {
  const FlockPicturePtr picture = flock.picture();
  ask_flock(flock, reply, [&flock, job, accepted, picture](FlockClient& client) {
    const auto there = client.job(job.id, kAskPatience);
    const JobState& state = there ? there.value() : accepted;
    const bool others = state.ask != nullptr && state.ask->user != job.user;
    if (others || !is_same_job(state, job)) {
      return http_error(409, "conflict",
                        "another job has the id " + to_string(job.id) + "; give another id");
    }
    flock.later([&flock, state] { flock.learn(state); });
    return taken(*picture, state, job);
  });
}

/// Why `caller` may not end it; empty: it may.
std::string why_not(const Caller& caller, const JobState& state) {
  if (caller.may(CallerRole::operator_)) return {};
  const std::string owner = state.ask == nullptr ? "" : state.ask->user;
  if (owner == caller.user) return {};
  return "the job is of user '" + visible_line(owner) + "', and this is '" + caller.user +
         "'; only its user and operators may end it";
}

}  // namespace

void list_jobs(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  const FlockPicturePtr picture = flock.picture();
  if (!readable(picture)) return reply(nothing_read(flock));
  JobFilter filter{call.text("user"), call.text("state"), call.text("name"), call.text("queue"),
                   call.text("since")};
  if (const Status right = filter.check(std::chrono::system_clock::now()); !right.ok())
    return reply(http_error(400, "invalid", right.error().message));
  const bool posted = flock.sorters().post([picture, news = flock.news(), filter, call,
                                            reply](const Result<FlockClient*>&) {
    auto chosen =
        filter.choose(all_of(*picture, news), call.caller.user, std::chrono::system_clock::now());
    reply(chosen ? listed(*picture, std::move(chosen).value(), call)
                 : http_error(400, "invalid", chosen.error().message));
  });
  if (!posted) reply(too_busy());
}

void submit_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  if (!readable(flock.picture())) return reply(nothing_read(flock));
  auto read = spec_of(call);
  if (!read) return reply(http_error(400, "invalid", read.error().message));
  JobSpec job = std::move(read).value();
  const bool has_id = call.has("job");
  if (has_id) job.id = job_of(call);
  if (has_id && job.id == JobId{}) return reply(http_error(400, "invalid", "job: 0 is no id"));
  const auto done = [&flock, reply, job, has_id](const Result<JobState>& state) {
    if (!state) return reply(flock_error(state.error()));
    flock.later([&flock, reply, job, has_id, state = state.value()] {
      if (has_id) return answer_once_compared(flock, reply, job, state);
      flock.learn(state);
      reply(taken(*flock.picture(), state, job));
    });
  };
  if (!flock.submitter().submit({job, has_id, done})) reply(too_busy());
}

void show_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  const FlockPicturePtr picture = flock.picture();
  if (!readable(picture)) return reply(nothing_read(flock));
  if (const JobState* const state = flock.job(job_of(call)))
    return reply(json_answer(job_json(*picture, *state, true)));
  ask_flock(flock, reply, [picture, id = job_of(call)](FlockClient& client) {
    const auto state = client.job(id, kAskPatience);
    return state ? json_answer(job_json(*picture, state.value(), true))
                 : flock_error(state.error());
  });
}

void cancel_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  const FlockPicturePtr picture = flock.picture();
  if (!readable(picture)) return reply(nothing_read(flock));
  const auto ask = [&flock, picture, id = job_of(call), caller = call.caller](FlockClient& client) {
    auto state = client.job(id, kAskPatience);
    if (!state) return flock_error(state.error());
    if (const std::string why = why_not(caller, state.value()); !why.empty())
      return http_error(403, "forbidden", why);
    const auto ended = client.cancel({state.value()}, kCancelWait);
    if (!ended) return flock_error(ended.error());
    const CancelledJob& job = ended.value().front();
    if (!job.denied.empty()) return http_error(403, "forbidden", job.denied);
    flock.later([&flock, state = job.state] { flock.learn(state); });
    return json_answer(job_json(*picture, job.state, true), terminal(job.state.phase) ? 200 : 202);
  };
  ask_flock(flock, reply, ask);
}

void explain_job(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  ask_flock(flock, reply, [id = job_of(call)](FlockClient& client) {
    const auto state = client.job(id, kAskPatience);
    if (!state) return flock_error(state.error());
    const auto found = client.explain(state.value(), kAskPatience);
    if (!found) return flock_error(found.error());
    Json silent = Json::array();
    for (const AgentId agent : found.value().silent) silent.push_back(agent.value);
    return json_answer(
        {{"job", to_string(id)}, {"lines", found.value().lines}, {"silent", silent}});
  });
}

void job_logs(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply) {
  LogStreams::Wish wish{job_of(call)};
  if (call.has("rank")) wish.rank = static_cast<std::uint32_t>(call.number("rank", 0));
  wish.tail = static_cast<std::uint32_t>(call.number("tail", 65'536));
  wish.follow = call.flag("follow");
  const auto open = [&flock, reply, wish] {
    HttpAnswer answer{200, "text/plain; charset=utf-8", ""};
    answer.stream = flock.logs().open(wish);
    reply(answer.stream == nullptr ? too_busy() : std::move(answer));
  };
  if (flock.job(wish.job) != nullptr) return open();
  // Whether there is such a job is said before the answer begins.
  const bool posted =
      flock.workers().post([&flock, reply, wish, open](const Result<FlockClient*>& client) {
        if (!client) return reply(flock_error(client.error()));
        const auto state = client.value()->job(wish.job, kAskPatience);
        if (!state) return reply(flock_error(state.error()));
        flock.later(open);
      });
  if (!posted) reply(too_busy());
}

}  // namespace starling
