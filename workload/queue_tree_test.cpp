// SPDX-License-Identifier: Apache-2.0
#include "workload/queue_tree.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

constexpr std::uint32_t kNone = QueueSpec::kNoLimit;

QueueSpec queue_of(std::string name, std::uint32_t guaranteed = 0, std::uint32_t most = kNone) {
  QueueSpec q;
  q.name = std::move(name), q.guaranteed = guaranteed, q.most = most;
  return q;
}

/// "lab-2" stands between "lab" and those below it.
QueueTree lab() {
  QueueTree tree;
  tree.version = 1;
  tree.queues = {queue_of("lab", 8, 16), queue_of("lab-2"), queue_of("lab/nlp", 4, 8),
                 queue_of("lab/vision", 4), queue_of("open")};
  tree.queues[3].most_per_user = 6;
  tree.queues[0].users = {"ada", "bob"};
  tree.queues[2].users = {"eve"};
  tree.fallback = "open";
  return tree;
}

template <class Change>
std::string wrong_with(Change change) {
  QueueTree tree = lab();
  REQUIRE(check_queues(tree).empty());
  change(tree);
  return check_queues(tree);
}

JobSpec job_of(std::string queue, std::string user, std::uint32_t workers = 1) {
  JobSpec spec;
  spec.queue = std::move(queue), spec.user = std::move(user), spec.workers = workers;
  return spec;
}

}  // namespace

TEST_CASE("queues are found by name, and those without others below are leaves") {
  const QueueTree tree = lab();
  REQUIRE(tree.find("lab/nlp") == &tree.queues[2]);
  CHECK(tree.find("lab/") == nullptr);
  CHECK(tree.find("") == nullptr);
  CHECK_FALSE(tree.is_leaf("lab"));
  CHECK(tree.is_leaf("lab-2"));
  CHECK(tree.is_leaf("lab/vision"));
  CHECK(tree.is_leaf("open"));
  CHECK_FALSE(tree.is_leaf("closed"));
}

TEST_CASE("a path tells what is above a queue") {
  CHECK(above("a/b/c") == "a/b");
  CHECK(above("a").empty());
  CHECK(is_within("a/b", "a"));
  CHECK(is_within("a", "a"));
  CHECK(is_within("a", ""));
  CHECK_FALSE(is_within("ab", "a"));
  CHECK_FALSE(is_within("a", "a/b"));
}

TEST_CASE("each way in which queues make no sense is named") {
  CHECK(wrong_with([](QueueTree& t) { t.queues[1].name = "lab"; }) ==
        "queue 'lab' is given twice; once is right");
  CHECK(wrong_with([](QueueTree& t) { std::swap(t.queues[1], t.queues[2]); }) ==
        "queue 'lab-2' stands behind queue 'lab/nlp'; by ascending name is right");
  CHECK(wrong_with([](QueueTree& t) {
          t.queues[4].name = "open/";
        }).starts_with("queue 'open/': its name has an empty part; "));
  CHECK(wrong_with([](QueueTree& t) { t.queues[4].name = "open /x"; }).find("blanks") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.queues[4].name = "op\nen"; }).find("control") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.queues[4].name = std::string(257, 'x'); }).find("257") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.queues[0].name = ""; }).find("is empty") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.queues[4].name = "open/x"; }) ==
        "queue 'open/x': there is no queue 'open' above it; give that, too");
  CHECK(wrong_with([](QueueTree& t) { t.queues[2].most = 3; }) ==
        "queue 'lab/nlp': guaranteed is 4, above its most (3); at most that is right");
  CHECK(wrong_with([](QueueTree& t) { t.queues[4].weight = 0; }) ==
        "queue 'open': weight is 0; at least 1 is right");
  CHECK(wrong_with([](QueueTree& t) { t.queues[0].most_per_user = 1; }).find("most_per_user") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.queues[2].users = {""}; }).find("of a user is empty") !=
        std::string::npos);
  CHECK(wrong_with([](QueueTree& t) { t.fallback = "lab"; }) ==
        "the fallback, queue 'lab', is no queue that has jobs; one of these is right: lab-2, "
        "lab/nlp, lab/vision, open");
  CHECK(wrong_with([](QueueTree& t) {
          for (int i = 0; i < 1024; ++i) t.queues.push_back(queue_of("x" + std::to_string(i)));
        }) == "there are 1029 queues; at most 1024 are right");
}

TEST_CASE("guarantees below add up to no more than there is above, through queues without one") {
  CHECK(wrong_with([](QueueTree& t) { t.queues[3].guaranteed = 5; }) ==
        "queue 'lab': the queues below it are guaranteed 9 together, above its own guarantee (8); "
        "at most that is right");
  CHECK(wrong_with([](QueueTree& t) {
          t.queues[0].guaranteed = 0, t.queues[3].guaranteed = 13;
        }).find("17 together, above its most (16)") != std::string::npos);
  QueueTree deep;
  deep.version = 1;
  deep.queues = {queue_of("a", 4), queue_of("a/b"), queue_of("a/b/c", 5)};
  CHECK(check_queues(deep).find("guaranteed 5 together, above its own guarantee (4)") !=
        std::string::npos);
  deep.queues[0].guaranteed = 0;
  CHECK(check_queues(deep).empty());
  CHECK(check_queues(QueueTree{}).empty());
}

TEST_CASE("a job counts against its leaf, or its user there; one that names none by the fallback") {
  const QueueTree tree = lab();
  CHECK(account_of(tree, job_of("lab/nlp", "eve")) == QuotaAccount{"lab/nlp", ""});
  CHECK(account_of(tree, job_of("lab/vision", "ada")) == QuotaAccount{"lab/vision", "ada"});
  CHECK(account_of(tree, job_of("", "ada")) == QuotaAccount{"open", ""});
  CHECK(account_of(tree, job_of("lab", "ada")) == QuotaAccount{"lab", ""});
}

TEST_CASE("an account may have the least on its way up, and nothing where it is of no leaf") {
  const QueueTree tree = lab();
  CHECK(most_of(tree, {"lab/nlp", ""}) == 8);
  CHECK(most_of(tree, {"lab/vision", "ada"}) == 6);
  CHECK(most_of(tree, {"lab-2", ""}) == kNone);
  CHECK(most_of(tree, {"lab", ""}) == 0);
  CHECK(most_of(tree, {"gone", ""}) == 0);
}

TEST_CASE("a job is refused with what would be right") {
  const QueueTree tree = lab();
  CHECK(why_not_queued(tree, job_of("", "kim", 5000)).empty());
  CHECK(why_not_queued(tree, job_of("lab", "ada")) ==
        "queue 'lab' has others below it, which have the jobs; one of these is right: lab/nlp, "
        "lab/vision");
  CHECK(why_not_queued(tree, job_of("x", "ada")).starts_with("there is no queue 'x'; one of"));
  QueueTree strict = tree;
  strict.fallback.clear();
  CHECK(why_not_queued(strict, job_of("", "ada")).starts_with("names no queue; one of these"));
  CHECK(why_not_queued(QueueTree{}, job_of("x", "ada")).empty());
}

TEST_CASE("whose a queue is says the first list on its way up") {
  const QueueTree tree = lab();
  CHECK(why_not_queued(tree, job_of("lab/vision", "bob")).empty());
  CHECK(why_not_queued(tree, job_of("lab/vision", "eve")) ==
        "queue 'lab/vision' is not for 'eve'; who runs the cluster may add that user to those of "
        "queue 'lab'");
  CHECK(why_not_queued(tree, job_of("lab/nlp", "eve")).empty());
  CHECK_FALSE(why_not_queued(tree, job_of("lab/nlp", "ada")).empty());
}

TEST_CASE(
    "a job that can never have the GPUs that it needs is refused, an elastic one by its least") {
  const QueueTree tree = lab();
  CHECK(why_not_queued(tree, job_of("lab/nlp", "eve", 9)) ==
        "needs 9 GPUs; queue 'lab/nlp' may have at most 8");
  CHECK(why_not_queued(tree, job_of("lab/vision", "ada", 17)) ==
        "needs 17 GPUs; one user of queue 'lab/vision' may have at most 6");
  QueueTree wide = tree;
  wide.queues[3].most_per_user = kNone;
  CHECK(why_not_queued(wide, job_of("lab/vision", "ada", 17)) ==
        "needs 17 GPUs; queue 'lab' may have at most 16");
  JobSpec elastic = job_of("lab/nlp", "eve", 6);
  elastic.gpus_per_worker = 2, elastic.min_workers = 4, elastic.max_workers = 8;
  CHECK(least_gpus(elastic) == 8);
  CHECK(why_not_queued(tree, elastic).empty());
  elastic.min_workers = 5;
  CHECK_FALSE(why_not_queued(tree, elastic).empty());
}
