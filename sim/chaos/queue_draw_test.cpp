// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/queue_draw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace starling {
namespace {

constexpr std::uint32_t kGpus = 16;

std::vector<JobSpec> named_jobs(QueueDraw& draw, Rng rng) {
  std::vector<JobSpec> jobs(40);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = {0, i + 1};
    jobs[i].workers = 1 + rng.below(kGpus);
    draw.name(jobs[i], rng.fork(i));
  }
  return jobs;
}

TEST_CASE("trees that are drawn make sense, and differ") {
  std::set<std::size_t> sizes;
  std::size_t missing = 0, refusing = 0, for_users = 0, per_user = 0, tight = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    QueueDraw draw(kGpus, Rng(seed));
    const std::vector<JobSpec> jobs = named_jobs(draw, Rng(seed + 1000));
    sizes.insert(draw.names().size());
    Rng rng(seed + 2000);
    for (int i = 0; i < 10; ++i) {
      QueueTree tree = draw.any(rng);
      tree.version = 1;
      CHECK(check_queues(tree) == "");
      CHECK(tree.queues.size() >= 1);
      missing += tree.queues.size() < draw.names().size() ? 1 : 0;
      refusing += tree.fallback.empty() ? 1 : 0;
      const auto queues = [&](auto is) {
        return std::any_of(tree.queues.begin(), tree.queues.end(), is) ? 1U : 0U;
      };
      for_users += queues([](const QueueSpec& queue) { return !queue.users.empty(); });
      per_user +=
          queues([](const QueueSpec& queue) { return queue.most_per_user < QueueSpec::kNoLimit; });
      tight += std::any_of(jobs.begin(), jobs.end(),
                           [&](const JobSpec& job) { return !why_not_queued(tree, job).empty(); });
    }
  }
  CHECK(*sizes.begin() == 1);
  CHECK(*sizes.rbegin() == 8);
  for (const std::size_t seen : {missing, refusing, for_users, per_user, tight}) {
    CHECK(seen > 20);
    CHECK(seen < 480);
  }
}

TEST_CASE("a job that stays in an earlier fallback can run by a lasting tree, too") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    QueueDraw draw(kGpus, Rng(seed));
    std::vector<JobSpec> jobs = named_jobs(draw, Rng(seed + 1000));
    Rng rng(seed + 2000);
    const std::string fallback = draw.any(rng).fallback;
    QueueTree tree = draw.lasting(rng);
    tree.version = 1;
    for (JobSpec& job : jobs) {
      if (job.queue.empty()) job.queue = fallback;
      CHECK(why_not_queued(tree, job) == "");
    }
  }
}

TEST_CASE("by a lasting tree each job can run, and what it limits is limited") {
  std::size_t limits = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    QueueDraw draw(kGpus, Rng(seed));
    const std::vector<JobSpec> jobs = named_jobs(draw, Rng(seed + 1000));
    Rng rng(seed + 2000);
    for (int i = 0; i < 10; ++i) {
      QueueTree tree = draw.lasting(rng);
      tree.version = 1;
      CHECK(check_queues(tree) == "");
      CHECK(why_not_queued(tree, JobSpec{}) == "");
      for (const JobSpec& job : jobs) {
        CHECK(why_not_queued(tree, job) == "");
        const QuotaAccount account = account_of(tree, job);
        CHECK(most_of(tree, account) >= job.gpus());
        limits += most_of(tree, account) < 2 * job.gpus() ? 1 : 0;
      }
    }
  }
  CHECK(limits > 1000);
}

TEST_CASE("a job is in a leaf, or names no queue") {
  QueueDraw draw(kGpus, Rng(3));
  REQUIRE(draw.names().size() > 1);
  std::set<std::string> queues, users;
  for (const JobSpec& job : named_jobs(draw, Rng(4))) {
    queues.insert(job.queue);
    users.insert(job.user);
  }
  CHECK(queues.contains(""));
  CHECK(users.size() == 4);
  for (const std::string& queue : queues) {
    if (queue.empty()) continue;
    CHECK(std::count(draw.names().begin(), draw.names().end(), queue) == 1);
    for (const std::string& name : draw.names()) CHECK_FALSE(name.starts_with(queue + "/"));
  }
}

}  // namespace
}  // namespace starling
