// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/asking/job_submitter.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/pending_submit.h"
#include "launch/client/session.h"
#include "launch/gateway/asking/flock_workers.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

constexpr Duration kSubmitPatience = std::chrono::seconds(10);
/// With nothing under way it looks so often for what homes have told.
constexpr auto kIdleLook = std::chrono::milliseconds(50);
/// While it waits for answers it looks so often for new jobs.
constexpr Duration kBusyLook = std::chrono::milliseconds(1);
constexpr Duration kReread = std::chrono::seconds(1);
/// Messages after which new jobs have their turn.
constexpr int kMostInARow = 256;

/// As its home would say it, right after it has accepted it.
JobState accepted_state(const JobSpec& job, AgentId home) {
  JobState state;
  state.job = job.id;
  state.phase = JobPhase::waiting;
  state.home = home;
  state.ask = ask_of(job);
  state.submitted =
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
  return state;
}

}  // namespace

/// What one life of the client has under way.
class JobSubmitter::Round {
 public:
  Round(FlockClient& flock, const std::function<void(const JobState&)>& heard)
      : flock_(flock), heard_(heard) {}

  [[nodiscard]] std::size_t under_way() const noexcept { return pending_.size(); }

  void begin(Submission submission) {
    JobSpec& job = submission.job;
    Status right = flock_.can_run(job);
    if (right.ok()) right = flock_.set_user(job);
    if (!right.ok()) return submission.done(right.error());
    if (!submission.has_id) {
      const auto id = flock_.new_id();
      if (!id) return submission.done(id.error());
      job.id = id.value();
    }
    const JobId id = job.id;
    if (pending_.contains(id)) {
      return submission.done(
          Error{Errc::busy, "job " + to_string(id) + " is being submitted; ask again"});
    }
    PendingSubmit submit(flock_.session(), std::move(job));
    submit.say(flock_.session());
    pending_.emplace(id, Pending{std::move(submit), std::move(submission.done),
                                 later(Session::now(), kSubmitPatience)});
  }

  /// Hears what comes until `until`.
  void hear(Instant until) {
    for (int n = 0; n < kMostInARow; ++n) {
      const auto received = flock_.session().receive(until);
      if (!received) return;
      const auto id = job_in(received->message);
      if (!id) continue;
      const auto at = pending_.find(*id);
      if (at != pending_.end()) {
        auto answer = at->second.submit.heard(*received);
        if (!answer) continue;
        Pending pending = std::move(at->second);
        pending_.erase(at);
        if (*answer) {
          pending.done(accepted_state(pending.submit.job(), pending.submit.agent()));
        } else {
          pending.done(answer->error());
        }
      }
      if (const auto* state = std::get_if<JobState>(&received->message)) heard_(*state);
    }
  }

  /// Says again what has no answer, gives up what has waited for too long.
  void look_after(Instant now) {
    for (auto at = pending_.begin(); at != pending_.end();) {
      Pending& pending = at->second;
      if (now >= pending.until) {
        pending.done(pending.submit.silence());
        at = pending_.erase(at);
        continue;
      }
      if (now >= pending.submit.due()) pending.submit.say(flock_.session());
      ++at;
    }
  }

  void give_up() {
    for (auto& [id, pending] : pending_) {
      pending.done(Error{Errc::not_ready,
                         "the gateway ends; the job may still be accepted: submit "
                         "it again with its id"});
    }
    pending_.clear();
  }

 private:
  struct Pending {
    PendingSubmit submit;
    std::function<void(Result<JobState>)> done;
    Instant until;
  };
  FlockClient& flock_;
  const std::function<void(const JobState&)>& heard_;
  std::unordered_map<JobId, Pending> pending_;
};

JobSubmitter::JobSubmitter(std::filesystem::path dir, std::size_t most_waiting,
                           std::function<void(const JobState&)> heard)
    : dir_(std::move(dir)),
      most_waiting_(most_waiting),
      heard_(std::move(heard)),
      thread_([this] { run(); }) {}

JobSubmitter::~JobSubmitter() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool JobSubmitter::submit(Submission submission) {
  {
    const std::lock_guard lock(mutex_);
    if (over_ || waiting_.size() + under_way_ >= most_waiting_) return false;
    waiting_.push_back(std::move(submission));
  }
  changed_.notify_one();
  return true;
}

std::vector<JobSubmitter::Submission> JobSubmitter::next(bool busy) {
  std::unique_lock lock(mutex_);
  if (!busy) changed_.wait_for(lock, kIdleLook, [this] { return over_ || !waiting_.empty(); });
  return std::exchange(waiting_, {});
}

void JobSubmitter::run() {
  std::unique_ptr<FlockClient> client;
  std::optional<Round> round;
  Instant reread = Session::now();
  for (;;) {
    std::vector<Submission> fresh = next(round && round->under_way() > 0);
    {
      const std::lock_guard lock(mutex_);
      if (over_) {
        for (Submission& one : fresh)
          one.done(Error{Errc::not_ready, "the gateway ends; nothing was submitted"});
        break;
      }
    }
    const Instant now = Session::now();
    if (client == nullptr || now >= reread) {
      const auto got = current_client(dir_, client);
      reread = later(now, kReread);
      if (!got) {
        for (Submission& one : fresh) one.done(got.error());
        continue;
      }
      if (!round) round.emplace(*client, heard_);
    }
    for (Submission& one : fresh) round->begin(std::move(one));
    round->hear(later(Session::now(), round->under_way() > 0 ? kBusyLook : Duration::zero()));
    round->look_after(Session::now());
    const std::lock_guard lock(mutex_);
    under_way_ = round->under_way();
  }
  if (round) round->give_up();
}

}  // namespace starling
