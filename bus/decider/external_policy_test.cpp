// SPDX-License-Identifier: Apache-2.0
#include "bus/decider/external_policy.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <zmq.hpp>

#include "base/test_folder.h"
#include "decider_generated.h"
#include "scheduling/feedback.h"
#include "sim/chaos/chaos.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate.h"

using namespace starling;

namespace {

using Bytes = std::vector<std::byte>;
/// What a decider answers to a question; none: nothing, and it waits for the next one.
using Answer = std::function<std::optional<Bytes>(const Bytes&)>;

/// A decider at an endpoint, in a thread of its own, until it goes or has answered `most` times.
class TestDecider {
 public:
  TestDecider(const std::string& endpoint, Answer answer, int most = 1 << 30)
      : thread_([this, endpoint, answer = std::move(answer), most] {
          zmq::context_t context;
          zmq::socket_t socket(context,
                               zmq::socket_type::router);  // may leave questions unanswered
          socket.set(zmq::sockopt::linger, 0);
          socket.bind(endpoint);
          zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
          while (!over_ && asked_ < most) {
            if (zmq::poll(&item, 1, std::chrono::milliseconds(5)) <= 0) continue;
            zmq::message_t who, empty, question;
            if (!socket.recv(who) || !socket.recv(empty) || !socket.recv(question)) continue;
            ++asked_;
            const auto* const first = static_cast<const std::byte*>(question.data());
            const auto said = answer(Bytes(first, first + question.size()));
            if (!said) continue;
            socket.send(who, zmq::send_flags::sndmore);
            socket.send(empty, zmq::send_flags::sndmore);
            socket.send(zmq::buffer(said->data(), said->size()), zmq::send_flags::none);
          }
        }) {}
  ~TestDecider() {
    over_ = true;
    thread_.join();
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

/// In order of arrival, each on the first server that has room.
std::optional<Bytes> first_fit(const Bytes& frame) {
  auto question = read_ask(frame).value();
  DeciderAdvice advice{question.number, {}};
  for (const DeciderQuestion::Waiting& job : question.waiting) {
    if (job.blocked) continue;
    for (std::vector<GpuId>& free : question.free) {
      if (free.size() < job.gpus) continue;
      advice.decisions.push_back(Start{job.job, {free.begin(), free.begin() + job.gpus}});
      free.erase(free.begin(), free.begin() + job.gpus);
      break;
    }
  }
  return advice_frame(advice);
}

/// Against everyone: jobs twice, jobs that are not, GPUs of others, agents that are not.
std::optional<Bytes> lie(const Bytes& frame) {
  const auto question = read_ask(frame).value();
  DeciderAdvice advice{question.number, {}};
  for (const DeciderQuestion::Waiting& job : question.waiting) {
    for (int twice = 0; twice < 2; ++twice)
      advice.decisions.push_back(Start{job.job, {GpuId{0}, GpuId{1}}});
    advice.decisions.push_back(Preempt{job.job});
    advice.decisions.push_back(Forward{job.job, AgentId{99}});
    advice.decisions.push_back(Resize{{job.job.lo, job.job.hi}, {GpuId{1}, GpuId{0}}});
  }
  return advice_frame(advice);
}

PolicyRegistry with_external() {
  PolicyRegistry policies = make_policy_registry();
  add_external(policies);
  return policies;
}

struct World4 {
  World4() {
    GeneratorOptions place;
    place.servers = 4;
    topology.emplace(generate_leaf_spine(place).value());
    TraceGeneratorOptions jobs;
    jobs.jobs = 60;
    jobs.cluster_gpus = 32;
    jobs.max_duration_s = 3600;
    trace = generate_trace(jobs).value();
    for (TraceJob& job : trace.jobs) {  // a server holds each
      job.spec.workers = 1;
      job.spec.gpus_per_worker = std::min(job.spec.gpus_per_worker, 8U);
    }
  }
  Result<RunResult> run(const std::string& policy) {
    SimOptions options;
    options.policy = policy;
    options.check = true;
    return simulate(*topology, trace, policies, options);
  }
  TestFolder folder{"decider"};
  std::string endpoint = "ipc://" + (folder.path / "d").string();
  PolicyRegistry policies = with_external();
  std::optional<Topology> topology;
  Trace trace;
  [[nodiscard]] std::string policy(const char* more = ",wait=yes,timeout=2000") const {
    return "external:endpoint=" + endpoint + more;
  }
};

std::uint64_t finished(const Result<RunResult>& run) {
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  return figures(run.value()).finished;
}

}  // namespace

TEST_CASE("a decider of another process decides, and the run is the same each time") {
  World4 world;
  TestDecider decider(world.endpoint, first_fit);
  const auto one = world.run(world.policy()), two = world.run(world.policy());
  CHECK(finished(one) == 60);
  CHECK(one.value().trace_hash == two.value().trace_hash);
  CHECK(decider.asked() > 60);
  const auto alone = world.run("fifo");
  CHECK(one.value().trace_hash != alone.value().trace_hash);
}

TEST_CASE(
    "garbage, lies, silence, other answers and death cost quality, and every job still ends") {
  World4 world;
  const char* const quick = ",wait=yes,timeout=20";
  SUBCASE("garbage") {
    TestDecider decider(world.endpoint, [](const Bytes& frame) {
      return std::optional(
          Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(frame.size() / 2)));
    });
    CHECK(finished(world.run(world.policy(quick))) == 60);
    CHECK(decider.asked() > 0);
  }
  SUBCASE("silence") {
    TestDecider decider(world.endpoint, [](const Bytes&) { return std::optional<Bytes>(); });
    CHECK(finished(world.run(world.policy(quick))) == 60);
  }
  SUBCASE("the answer to another question") {
    TestDecider decider(world.endpoint, [](const Bytes&) {
      return std::optional(advice_frame({999'999'999, {}}));
    });
    CHECK(finished(world.run(world.policy(quick))) == 60);
  }
  SUBCASE("death in the middle") {
    TestDecider decider(world.endpoint, first_fit, 20);
    CHECK(finished(world.run(world.policy(quick))) == 60);
  }
  SUBCASE("no decider was ever there") { CHECK(finished(world.run(world.policy(quick))) == 60); }
}

TEST_CASE("lies under chaos break no rule of safety") {
  World4 world;
  std::atomic<int> turn = 0;
  TestDecider decider(world.endpoint, [&](const Bytes& frame) {
    return ++turn % 3 == 0 ? lie(frame) : first_fit(frame);
  });
  ChaosOptions options;
  options.policy = world.policy(",wait=yes,timeout=50");
  options.faults_last = std::chrono::minutes(2);
  options.twice_every = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ChaosRun run = run_chaos_seed(seed, world.policies, options).value();
    // Gangs that this decider starts nowhere wait for ever (L): that is its own affair.
    const bool safe = !run.failure || run.failure->rule.starts_with("L");
    CHECK_MESSAGE(safe, (run.failure ? run.failure->rule + ": " + run.failure->message : ""));
  }
  CHECK(decider.asked() > 0);
}

TEST_CASE("without waiting advice is taken at a later call, while nothing has changed") {
  World4 world;
  TestDecider decider(world.endpoint, first_fit);
  // Virtual time runs by itself, so of 60 answers some are late; then the fallback decides.
  CHECK(finished(world.run(world.policy(",timeout=60000"))) == 60);
}

TEST_CASE("a decider that sends answers without end holds up no run") {
  World4 world;
  std::atomic<bool> over = false;
  std::thread flood([&] {
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind(world.endpoint);
    const Bytes other = advice_frame({999'999'999, {}});
    zmq::message_t who, empty, question;
    while (!over && !socket.recv(who, zmq::recv_flags::dontwait)) std::this_thread::yield();
    while (!over) {
      zmq::message_t to;
      to.copy(who);
      if (!socket.send(to, zmq::send_flags::sndmore | zmq::send_flags::dontwait)) continue;
      static_cast<void>(socket.send(zmq::message_t(), zmq::send_flags::sndmore));
      static_cast<void>(
          socket.send(zmq::buffer(other.data(), other.size()), zmq::send_flags::dontwait));
    }
  });
  const auto run = world.run(world.policy(",wait=yes,timeout=20"));
  over = true;
  flood.join();
  CHECK(finished(run) == 60);
}

TEST_CASE("a fallback learns, and hears of its own decisions alone") {
  struct Learner final : Policy {
    [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
    [[nodiscard]] std::vector<Decision> decide(const View&, const Trigger&, Rng&) override {
      return {Preempt{{1, 1}}};
    }
    void refused(const Feedback&) override { ++heard; }
    void learn() override { ++learns; }
    [[nodiscard]] std::uint64_t learned() const noexcept override { return learns; }
    PolicyFacts facts_;
    std::uint64_t learns = 0, heard = 0;
  };
  auto owned = std::make_unique<Learner>();
  const Learner& learner = *owned;
  ExternalPolicy policy({"ipc://nowhere", std::chrono::milliseconds(1), true}, std::move(owned));
  policy.learn();
  CHECK(learner.learns == 1);
  CHECK(policy.learned() == 1);
  policy.refused({Preempt{{1, 1}}, DecisionFault::not_running});  // nothing was decided yet
  CHECK(learner.heard == 0);
}

TEST_CASE("options say where, and what is wrong with them") {
  const PolicyRegistry policies = with_external();
  const auto nowhere = policies.make("external");
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.error().message.find("give ipc://PATH") != std::string::npos);
  CHECK_FALSE(policies.make("external:endpoint=tcp://127.0.0.1:0;10.0.0.1:5555").ok());
  CHECK(policies.make("external:endpoint=tcp://127.0.0.1:5555,fallback=srtf").ok());
  CHECK_FALSE(policies.make("external:endpoint=tcp://10.0.0.1:5555").ok());
  const auto wrong = policies.make("external:endpoint=ipc://d,fallback=nobody");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("fallback: no policy 'nobody'") != std::string::npos);
  CHECK_FALSE(policies.make("external:endpoint=ipc://d,timeout=0").ok());
}

TEST_CASE("a list of GPUs that many decisions have is counted in each") {
  GeneratorOptions place;
  place.servers = 2;
  const Topology topology = generate_leaf_spine(place).value();
  flatbuffers::FlatBufferBuilder to;
  const auto gpus = to.CreateVector(std::vector<std::uint32_t>(100'000, 1));
  std::vector<flatbuffers::Offset<starling_decider::Decision>> all;
  const starling_decider::JobId id(1, 2);
  for (int i = 0; i < 4096; ++i)
    all.push_back(
        starling_decider::CreateDecision(to, starling_decider::Kind::start, &id, gpus, 0));
  const auto list = to.CreateVector(all);
  const auto said = starling_decider::CreateAdvice(to, 1, list);
  starling_decider::FinishMessageBuffer(to, starling_decider::CreateMessage(to, 1, 0, said));
  const auto* const first = reinterpret_cast<const std::byte*>(to.GetBufferPointer());
  const auto read = read_advice({first, to.GetSize()}, topology);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("names more than ") == 0);
}

TEST_CASE("frames are read back, and anything else is refused") {
  GeneratorOptions place;
  place.servers = 2;
  const Topology topology = generate_leaf_spine(place).value();
  const DeciderAdvice advice{
      7, {Start{{1, 2}, {GpuId{3}, GpuId{4}}}, Preempt{{5, 6}}, Forward{{7, 8}, AgentId{2}}}};
  const Bytes frame = advice_frame(advice);
  const auto read = read_advice(frame, topology);
  REQUIRE(read.ok());
  CHECK(read.value().number == 7);
  REQUIRE(read.value().decisions.size() == 3);
  CHECK(std::get<Start>(read.value().decisions[0]).placement == Placement{GpuId{3}, GpuId{4}});
  CHECK(std::get<Forward>(read.value().decisions[2]).to == AgentId{2});
  for (std::size_t size = 0; size + 8 < frame.size(); ++size)
    CHECK_FALSE(read_advice(std::span(frame).first(size), topology).ok());
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {  // whatever it is, it is read or refused
    Bytes bad = frame;
    for (int k = 0; k < 3; ++k)
      bad[rng.below(static_cast<std::uint32_t>(bad.size()))] =
          static_cast<std::byte>(rng.below(256));
    static_cast<void>(read_advice(bad, topology));
    static_cast<void>(read_ask(bad));
  }
  CHECK_FALSE(read_advice(advice_frame({1, {Start{{1, 2}, {GpuId{16}}}}}), topology).ok());
}
