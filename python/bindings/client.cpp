// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "launch/client/flock_client.h"
#include "launch/client/output_of_job.h"
#include "launch/client/placeable.h"
#include "launch/client/session.h"
#include "launch/deployment/deployment.h"
#include "launch/jobs/queues_shown.h"
#include "launch/jobs/what_to_submit.h"
#include "launch/system/signals.h"
#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "workload/queue_file.h"

namespace py = pybind11;

namespace starling {
namespace {

/// So often a call that waits looks whether Python has been told to stop.
constexpr Duration kPoll = std::chrono::milliseconds(100);
/// So long a wait keeps others from their turn.
constexpr Duration kSlice = std::chrono::milliseconds(500);

py::dict told(const JobState& state) {
  py::dict out;
  out["id"] = to_string(state.job);
  out["phase"] = std::string(name_of(state.phase));
  out["over"] = terminal(state.phase);
  out["home"] = state.home.value;
  out["queued_s"] = seconds(state.queued);
  out["elapsed_s"] = seconds(state.elapsed);
  out["served_s"] = seconds(state.served);
  out["attempts"] = state.attempts;
  out["preemptions"] = state.preemptions;
  std::vector<std::uint32_t> gpus;
  for (const GpuId gpu : state.placement) gpus.push_back(gpu.value);
  out["gpus"] = gpus;
  out["exit_code"] = terminal(state.phase) ? py::object(py::int_(state.exit.code)) : py::none();
  out["name"] = state.ask == nullptr ? "" : state.ask->name;
  out["user"] = state.ask == nullptr ? "" : state.ask->user;
  return out;
}

/// A UserWarning at the line that calls Client.submit(); raises it where warnings are errors.
void warn_of(const std::string& what) {
  if (!what.empty() && PyErr_WarnEx(PyExc_UserWarning, what.c_str(), 2) != 0)
    throw py::error_already_set();
}

/// A FlockClient that several threads of Python may call; they take turns.
class Flock {
  static Instant now() { return Session::now(); }

  /// Without the interpreter, one call at a time, in a thread of its own: this one looks for
  /// Ctrl-C, which ends it as it ends a command, and no other thread's call.
  template <class Call>
  auto ask(Call call) -> decltype(call()) {
    std::atomic<bool> stop{false};
    auto answer = std::async(std::launch::async, [&]() -> decltype(call()) {
      const StopBy ctrl_c(stop);
      std::unique_lock turn(turn_, std::defer_lock);
      while (!turn.try_lock_for(kPoll)) {
        if (stop) return Error{Errc::not_ready, "interrupted"};
      }
      return call();
    });
    const auto there = [&](Duration patience) {
      const py::gil_scoped_release others_may;
      return answer.wait_for(patience) == std::future_status::ready;
    };
    while (!there(kPoll)) {
      if (PyErr_CheckSignals() == 0) continue;
      py::error_already_set raised;
      stop = true;
      while (!there(kPoll)) {
      }
      throw raised;
    }
    return answer.get();
  }
  template <class Call>
  auto alone(Call call) {
    return value_of(ask(call));
  }

 public:
  explicit Flock(const std::string& dir)
      : client_(value_of_input(FlockClient::open(value_of_input(flock_dir(dir))))) {
    alone([this] { return client_->connect(); });
  }

  std::string submit(std::vector<std::string> words, const JobOptions& options,
                     const std::string& directory) {
    SubmitWords said{std::move(words), true, options, {}, {}};
    Submitter from = Submitter::here();
    if (!directory.empty()) from.folder = directory;
    WhatToSubmit what = value_of_input(what_to_submit(said, from));
    JobSpec& job = what.jobs.front();
    warn_of(alone([&]() -> Result<std::string> {
      if (Status can = client_->can_run(job); !can.ok())
        return Error{Errc::invalid, "submit: " + (job.name.empty() ? "it" : job.name) +
                                        " can never run here: " + can.error().message};
      return unknown_gpu_types(client_->topology(), job);
    }));
    alone([&]() -> Status {
      if (Status whose = client_->set_user(job); !whose.ok()) return whose;
      const auto id = client_->new_id();
      if (!id) return id.error();
      job.id = id.value();
      const auto taken = client_->submit(job);
      return taken ? done() : Status(taken.error());
    });
    return to_string(job.id);
  }

  py::dict job(const std::string& id) {
    return told(alone([&] { return client_->job(id); }));
  }
  py::list jobs() {
    py::list out;
    for (const JobState& state : alone([&] { return client_->jobs(); }).jobs)
      out.append(told(state));
    return out;
  }
  std::vector<std::string> explain(const std::string& id) {
    return alone([&]() -> Result<std::vector<std::string>> {
      const auto state = client_->job(id);
      if (!state) return state.error();
      const auto said = client_->explain(state.value());
      if (!said) return said.error();
      return said.value().lines;
    });
  }

  /// Its state once it has ended; None: not within `timeout_s`.
  py::object ended(const std::string& id, std::optional<double> timeout_s) {
    const JobId job = value_of(parse_job_id(id));
    const Instant until = timeout_s ? later(now(), from_seconds(*timeout_s)) : kNever;
    for (;;) {
      const Duration left = until == kNever ? kSlice : std::min<Duration>(until - now(), kSlice);
      const auto state = ask([&] { return client_->ended(job, std::max(left, Duration{0})); });
      if (state) return told(state.value());
      if (state.error().code != Errc::not_ready) raise(state.error());
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (now() >= until) return py::none();
    }
  }

  py::list cancel(const std::vector<std::string>& ids) {
    const auto said = alone([&]() -> Result<std::vector<CancelledJob>> {
      std::vector<JobState> states;
      for (const std::string& id : ids) {
        auto state = client_->job(id);
        if (!state) return state.error();
        states.push_back(std::move(state).value());
      }
      return client_->cancel(std::move(states));
    });
    py::list out;
    for (const CancelledJob& one : said) {
      py::dict state = told(one.state);
      state["denied"] = one.denied;
      out.append(state);
    }
    return out;
  }

  /// What its last attempt has printed so far.
  std::string output(const std::string& id, std::optional<std::uint32_t> rank) {
    std::string text;
    alone([&]() -> Status {
      OutputOfJob::Options options;
      options.rank = rank;
      OutputOfJob output(
          *client_, options, [&](const std::string& more) { text += more; },
          [](const std::string&) {});
      const auto state = client_->job(id);
      if (!state) return state.error();
      if (Status found = output.look_at(state.value()); !found.ok())
        return found.error().code == Errc::not_ready ? done() : found;
      if (!output.read(std::chrono::seconds(10)))
        return {Errc::not_ready, "not all servers of job " + id + " have answered"};
      output.finish();
      return done();
    });
    return text;
  }

  py::list agents() {
    py::list out;
    for (const AgentStatus& agent : alone([&] { return client_->agents_found(); }).agents) {
      py::dict one;
      one["agent"] = agent.agent.value;
      one["gpus"] = agent.gpus;
      one["free"] = agent.free;
      one["waiting"] = agent.waiting;
      one["running"] = agent.running;
      one["finished"] = agent.finished;
      one["failed"] = agent.failed;
      out.append(one);
    }
    return out;
  }
  /// As JSON.
  std::string queues() {
    return queues_json(alone([&] { return client_->queues(); }))
        .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  std::string set_queues(const std::string& tree) {
    return queues_json(alone([&]() -> Result<QueuesState> {
             auto read = parse_queue_file("queues", tree);
             if (!read) return read.error();
             return client_->set_queues(std::move(read).value());
           }))
        .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  [[nodiscard]] Topology topology() {
    return alone([&]() -> Result<Topology> { return Topology(client_->topology()); });
  }

 private:
  std::unique_ptr<FlockClient> client_;
  std::timed_mutex turn_;
};

}  // namespace

void bind_client(py::module_& module) {
  py::class_<Flock>(module, "Flock",
                    "A running flock, as one of its users sees it; starling.Client is made of it.")
      .def(py::init<const std::string&>(), py::arg("dir") = "",
           "The flock in that directory, or in $STARLING_FLOCK.")
      .def("submit", &Flock::submit, py::arg("words"), py::arg("options") = JobOptions{},
           py::arg("directory") = "",
           "A command; `options` are those of `starling submit` ({'--gpus': '2'}). Its id.")
      .def("job", &Flock::job, py::arg("id"), "dict: how it is.")
      .def("jobs", &Flock::jobs)
      .def("explain", &Flock::explain, py::arg("id"))
      .def("ended", &Flock::ended, py::arg("id"), py::arg("timeout_s") = py::none(),
           "Its state once it has ended; None: not within timeout_s.")
      .def("cancel", &Flock::cancel, py::arg("ids"))
      .def("output", &Flock::output, py::arg("id"), py::arg("rank") = py::none())
      .def("agents", &Flock::agents)
      .def("queues", &Flock::queues, "JSON: version, tree, uses and unaware.")
      .def("set_queues", &Flock::set_queues, py::arg("tree"),
           "Puts the queues of a text, YAML or JSON, into force; JSON as queues().")
      .def_property_readonly("topology", &Flock::topology);
}

}  // namespace starling
