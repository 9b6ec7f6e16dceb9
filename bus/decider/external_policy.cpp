// SPDX-License-Identifier: Apache-2.0
#include "bus/decider/external_policy.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <zmq.hpp>

#include "bus/despite_signals.h"

namespace starling {
namespace {

constexpr Duration kShortestRound = std::chrono::milliseconds(10);
constexpr Duration kAgain = std::chrono::seconds(1);  // nothing has changed, but time passes
constexpr int kMostFrames = 32;  // of one call: a decider that sends without end holds up no agent

int milliseconds_of(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

/// No "tcp://SOURCE;TARGET", whose target is elsewhere.
bool is_local(const std::string& endpoint) {
  const std::string_view tcp = "tcp://127.0.0.1:";
  const std::size_t digits = endpoint.find_first_not_of("0123456789", tcp.size());
  if (endpoint.starts_with(tcp)) return endpoint.size() > tcp.size() && digits == std::string::npos;
  return endpoint.starts_with("ipc://") && endpoint.size() > 6;
}

}  // namespace

const PolicyFacts ExternalPolicy::kFacts{
    .name = "external",
    .summary = "asks a process of this machine, in any language, over a socket (docs/deciders.md)",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .needs_model_file = true};

namespace {

/// Threads and files of ZeroMQ, once for all policies of this process; gone with the last of them.
std::shared_ptr<zmq::context_t> common_context() {
  static std::mutex mutex;
  static std::weak_ptr<zmq::context_t> common;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<zmq::context_t> context = common.lock();
  if (context == nullptr) {
    context = std::make_shared<zmq::context_t>();
    context->set(zmq::ctxopt::max_sockets, context->get(zmq::ctxopt::socket_limit));
    common = context;
  }
  return context;
}

}  // namespace

/// The socket. What it throws is as if no answer came.
class ExternalPolicy::Link {
 public:
  Link(const std::string& endpoint, bool wait)
      : context_(common_context()), socket_(*context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndhwm, 2);
    socket_.set(zmq::sockopt::rcvhwm, 16);
    socket_.set(zmq::sockopt::maxmsgsize, std::int64_t{8} << 20U);
    // Live, no question waits for a decider that is not there.
    socket_.set(zmq::sockopt::immediate, wait ? 0 : 1);
    socket_.connect(endpoint);
  }

  /// An empty part, as a REP wants it, and the question. False: it cannot go now.
  bool send(const std::vector<std::byte>& bytes) {
    zmq::message_t empty, question(bytes.data(), bytes.size());
    return despite_signals([&] {
      if (!socket_.send(empty, zmq::send_flags::sndmore | zmq::send_flags::dontwait)) return false;
      return socket_.send(question, zmq::send_flags::dontwait).has_value();
    });
  }

  /// The last part of the next answer, whatever its parts are; none came in so long.
  std::optional<zmq::message_t> receive(int wait_ms) {
    zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    const auto wait = std::chrono::milliseconds(wait_ms);
    if (despite_signals([&] { return zmq::poll(&item, 1, wait); }) <= 0) return std::nullopt;
    zmq::message_t part;
    for (bool more = true; more;) {
      if (!despite_signals([&] { return socket_.recv(part, zmq::recv_flags::dontwait); }))
        return std::nullopt;
      more = part.more();
    }
    return part;
  }

 private:
  std::shared_ptr<zmq::context_t> context_;
  zmq::socket_t socket_;
};

ExternalPolicy::ExternalPolicy(ExternalOptions options, std::unique_ptr<Policy> fallback)
    : options_(std::move(options)), fallback_(std::move(fallback)), facts_(kFacts) {
  set_round();
}

ExternalPolicy::~ExternalPolicy() = default;

void ExternalPolicy::set_round() {
  if (options_.wait) return;
  const bool open = question_.number > 0 && !question_.over;
  facts_.round = open ? std::max(kShortestRound, options_.timeout / 4) : kAgain;
}

/// Advice to the present question, if it is there or comes within `wait`; what else comes is
/// dropped.
std::optional<DeciderAdvice> ExternalPolicy::take(const Topology& topology, Duration wait) {
  const auto until = std::chrono::steady_clock::now() + wait;
  try {
    for (int frames = 0; link_ != nullptr && frames < kMostFrames; ++frames) {
      const Duration left = std::max<Duration>(until - std::chrono::steady_clock::now(), {});
      const auto frame = link_->receive(milliseconds_of(left));
      if (!frame) return std::nullopt;
      auto advice = read_advice(
          std::span(static_cast<const std::byte*>(frame->data()), frame->size()), topology);
      if (!advice) {
        ++counts_.damaged;
        if (options_.wait) return std::nullopt;  // it was the answer
      } else if (advice.value().number != question_.number) {
        ++counts_.late;
      } else {
        return std::move(advice).value();
      }
    }
  } catch (const zmq::error_t&) {
    link_.reset();
  }
  return std::nullopt;
}

std::vector<Decision> ExternalPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  by_fallback_ = false;
  AskFrame frame = ask_frame(view, number_ + 1);
  const bool changed = number_ == 0 || frame.state != question_.state ||
                       (question_.over && view.now - question_.at >= kAgain);
  if (!changed && question_.over) return {};
  if (changed) {
    // Where much changes no question lives long: the time-out is that of the first one unanswered.
    const Instant since = number_ == 0 || question_.over ? view.now : question_.at;
    question_ = {++number_, frame.state, since, std::move(frame.bytes), false, false};
    if (options_.wait) ask();
  }
  auto advice = take(view.topology, options_.wait ? options_.timeout : Duration{0});
  by_fallback_ = !advice && (options_.wait || view.now - question_.at >= options_.timeout);
  question_.over = advice.has_value() || by_fallback_;
  set_round();
  if (advice) {
    ++counts_.taken;
    return std::move(advice->decisions);
  }
  if (!by_fallback_) return {};
  ++counts_.fell_back;
  return fallback_->decide(view, trigger, rng);
}

void ExternalPolicy::refused(const Feedback& feedback) {
  if (by_fallback_) fallback_->refused(feedback);
}

Placement ExternalPolicy::offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) {
  return fallback_->offer(view, want, gpus_per_worker, each);
}

void ExternalPolicy::learn() {
  ask();
  fallback_->learn();
}

void ExternalPolicy::ask() {
  if (question_.number == 0 || question_.sent) return;
  try {
    if (link_ == nullptr) link_ = std::make_unique<Link>(options_.endpoint, options_.wait);
    question_.sent = link_->send(question_.bytes);
    counts_.asked += question_.sent ? 1 : 0;
  } catch (const zmq::error_t&) {
    link_.reset();
  }
}

std::vector<std::string> ExternalPolicy::explain(JobId job) const {
  std::vector<std::string> lines{
      "decided by " + options_.endpoint + ": " + std::to_string(counts_.taken) +
      " answers taken, " + std::to_string(counts_.fell_back) + " times the fallback, " +
      std::to_string(counts_.damaged) + " damaged, " + std::to_string(counts_.late) + " late"};
  for (std::string& line : fallback_->explain(job)) lines.push_back(std::move(line));
  return lines;
}

void add_external(PolicyRegistry& registry) {
  registry.add(
      ExternalPolicy::kFacts,
      [bases = registry](OptionReader& options) -> Result<std::unique_ptr<Policy>> {
        ExternalOptions chosen;
        chosen.endpoint = options.file("endpoint",
                                       "where the decider answers: ipc://PATH or "
                                       "tcp://127.0.0.1:PORT; to be given");
        chosen.timeout = from_seconds(
            options.number("timeout", 50, 1, 60'000, "milliseconds; then the fallback decides") /
            1000);
        chosen.wait =
            options.choice("wait", {"no", "yes"}, "a simulation waits for each answer") == "yes";
        std::string fallback =
            options.file("fallback", "a policy, with one option at most; default fifo");
        if (fallback.empty()) fallback = "fifo";
        if (!is_local(chosen.endpoint))
          return Error{Errc::invalid, "policy 'external': endpoint is '" + chosen.endpoint +
                                          "'; give ipc://PATH or tcp://127.0.0.1:PORT"};
        auto base = bases.make(fallback);
        if (!base)
          return Error{Errc::invalid, "policy 'external': fallback: " + base.error().message};
        return std::unique_ptr<Policy>(
            std::make_unique<ExternalPolicy>(std::move(chosen), std::move(base).value()));
      });
}

}  // namespace starling
