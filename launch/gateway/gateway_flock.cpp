// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/gateway_flock.h"

#include <sys/random.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "launch/client/session.h"
#include "launch/system/text.h"

namespace starling {
namespace {

using Json = nlohmann::json;

constexpr Duration kOld = std::chrono::seconds(15);

std::string dumped_line(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string random_life() {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint32_t>(Session::now().time_since_epoch().count());
  return std::to_string(random);
}

/// What an agent says, without what changes all the time.
std::string agents_key(const FlockPicture& picture) {
  Json json = agents_json(picture);
  json.erase("as_of");
  for (Json& agent : json["agents"])
    for (const char* busy : {"messages", "decisions", "decision_p50_us", "decision_p99_us"})
      agent.erase(busy);
  return dumped_line(json);
}

}  // namespace

/// What one picture has that the one before had not.
struct GatewayFlock::Changes {
  bool topology = false, failure = false;
  std::vector<JobState> jobs;
  std::vector<JobId> gone;
  std::string agents, servers;  ///< events; empty: none

  static Changes between(const FlockPicture* before, const FlockPicture& now);

 private:
  void compare_jobs(const FlockPicture& before, const FlockPicture& now);
  void compare_servers(const FlockPicture& before, const FlockPicture& now);
};

void GatewayFlock::Changes::compare_jobs(const FlockPicture& before, const FlockPicture& now) {
  auto old = before.jobs.begin();
  for (const JobState& state : now.jobs) {
    for (; old != before.jobs.end() && old->job < state.job; ++old) gone.push_back(old->job);
    const bool known = old != before.jobs.end() && old->job == state.job;
    if (!known || job_signature(*old) != job_signature(state)) jobs.push_back(state);
    if (known) ++old;
  }
  for (; old != before.jobs.end(); ++old) gone.push_back(old->job);
  // What a silent agent does not say is not gone.
  if (!now.silent.empty()) gone.clear();
}

void GatewayFlock::Changes::compare_servers(const FlockPicture& before, const FlockPicture& now) {
  const Json old = servers_json(before), all = servers_json(now);
  Json changed = Json::array();
  const Json &a = old["servers"], &b = all["servers"];
  for (std::size_t i = 0; i < b.size(); ++i)
    if (i >= a.size() || a[i] != b[i]) changed.push_back(b[i]);
  if (!changed.empty()) servers = dumped_line({{"servers", changed}});
}

GatewayFlock::Changes GatewayFlock::Changes::between(const FlockPicture* before,
                                                     const FlockPicture& now) {
  Changes changes;
  if (before == nullptr || before->topology == nullptr || now.topology == nullptr) {
    changes.topology = now.topology != nullptr;
    return changes;
  }
  changes.failure = before->failure != now.failure;
  changes.topology = before->generation != now.generation;
  if (!now.failure.empty()) return changes;
  changes.compare_jobs(*before, now);
  changes.compare_servers(*before, now);
  if (agents_key(*before) != agents_key(now)) changes.agents = dumped_line(agents_json(now));
  return changes;
}

GatewayFlock::GatewayFlock(const std::filesystem::path& dir, const GatewayLimits& limits,
                           Later later)
    : limits_(limits),
      later_(std::move(later)),
      events_(random_life()),
      submitter_(dir, limits.most_submitting,
                 [this](const JobState& state) { later_([this, state] { learn(state); }); }),
      workers_(dir, limits.asking_threads, limits.most_asking),
      sorters_({}, 1, limits.most_asking),
      logs_(dir, limits.most_logs),
      reader_(dir, [this, before = FlockPicturePtr()](const FlockPicturePtr& picture) mutable {
        auto changes = std::make_shared<Changes>(Changes::between(before.get(), *picture));
        before = picture;
        later_([this, picture, changes] { show(picture, *changes); });
      }) {}

std::string GatewayFlock::not_ready() const {
  if (picture_ == nullptr) return "the flock has not been read yet";
  if (!picture_->failure.empty()) return picture_->failure;
  const Duration age = Session::now() - picture_->begun;
  if (age > kOld && picture_->jobs.size() < 10'000)
    return "nothing was heard of the flock for " + human_seconds(seconds(age));
  return {};
}

const JobState* GatewayFlock::job(JobId id) const {
  if (const auto at = news_.find(id); at != news_.end()) return &at->second;
  return picture_ == nullptr ? nullptr : picture_->job(id);
}

void GatewayFlock::learn(const JobState& state) {
  if (state.phase == JobPhase::unknown || state.phase == JobPhase::moved) return;
  JobState known = state;
  const JobState* const before = job(state.job);
  if (before != nullptr) {
    // An acceptance that comes late says less than what has happened since.
    if (terminal(before->phase)) return;
    if (known.ask == nullptr) known.ask = before->ask;
    if (known.submitted < Duration::zero()) known.submitted = before->submitted;
  }
  heard_at_[state.job] = Session::now();
  JobState& kept = news_[state.job] = std::move(known);
  say_job(kept);
}

void GatewayFlock::say_job(const JobState& state) {
  if (picture_ == nullptr || picture_->topology == nullptr) return;
  const std::uint64_t signature = job_signature(state);
  const auto [at, fresh] = said_.try_emplace(state.job, signature);
  if (!fresh && at->second == signature) return;
  at->second = signature;
  events_.say_of_job("job", dumped_line(job_json(*picture_, state, false)));
}

void GatewayFlock::show(const FlockPicturePtr& picture, const Changes& changes) {
  picture_ = picture;
  if (!picture->failure.empty()) {
    if (changes.failure) events_.say("failure", dumped_line({{"message", picture->failure}}));
    return;
  }
  if (changes.failure) events_.say("resync", "{}");
  if (changes.topology) events_.say("topology", dumped_line({{"generation", picture->generation}}));
  for (const JobState& state : changes.jobs) {
    // What was heard after the picture was begun is newer, and has been said.
    const auto heard = heard_at_.find(state.job);
    if (heard != heard_at_.end() && heard->second >= picture->begun) continue;
    say_job(state);
  }
  for (const JobId job : changes.gone) {
    if (!news_.contains(job)) events_.say_of_job("gone", dumped_line({{"job", to_string(job)}}));
  }
  if (!changes.servers.empty()) events_.say("servers", changes.servers);
  if (!changes.agents.empty()) events_.say("agents", changes.agents);
  std::erase_if(heard_at_, [&](const auto& one) {
    if (one.second >= picture->begun) return false;
    news_.erase(one.first);
    said_.erase(one.first);
    return true;
  });
  std::erase_if(said_, [&](const auto& one) { return !heard_at_.contains(one.first); });
}

}  // namespace starling
