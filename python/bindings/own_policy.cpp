// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/own_policy.h"

#include <pybind11/stl.h>

#include <memory>

#include "python/bindings/module.h"
#include "python/bindings/own_view.h"

namespace py = pybind11;

namespace starling {
namespace {

constexpr const char* kOwn = "python";

/// May be dropped wherever: takes the interpreter for that.
using Kept = std::shared_ptr<py::object>;
Kept keep(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const py::gil_scoped_acquire interpreter;
            delete held;
          }};
}

bool says(const py::object& own, const char* what) {
  return py::hasattr(own, what) && own.attr(what).cast<bool>();
}

PolicyFacts facts_of(const py::object& own) {
  PolicyFacts facts{.name = kOwn, .summary = "written in Python"};
  facts.preemptive = says(own, "preemptive");
  facts.elastic = says(own, "elastic");
  facts.needs_running = says(own, "needs_running");
  if (facts.elastic) facts.family = Family::elastic;
  facts.lengths = LengthSource::estimates;
  if (py::hasattr(own, "round_s")) facts.round = from_seconds(own.attr("round_s").cast<double>());
  return facts;
}

class OwnPolicy final : public Policy {
 public:
  OwnPolicy(Kept own, PolicyFacts facts) : own_(std::move(own)), facts_(facts) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    const py::gil_scoped_acquire interpreter;
    Trial trial(mirror_, view.gpus);
    const auto call = std::make_shared<OwnCall>(OwnCall{&view, &trial});
    const Over over{*call};
    try {
      return read(own_->attr("decide")(OwnView(call)));
    } catch (py::error_already_set& error) {
      tell_where(error, view);
      throw;
    }
  }

 private:
  /// A view that was kept is found closed.
  struct Over {
    OwnCall& call;
    ~Over() { call = {}; }
  };

  static std::vector<Decision> read(const py::object& given) {
    std::vector<Decision> out;
    if (given.is_none()) return out;
    for (const py::handle one : given) {
      if (!py::isinstance<OwnDecision>(one)) {
        PyErr_SetString(PyExc_TypeError,
                        ("decide() gives decisions: Start, Preempt, Resize or Forward; not " +
                         py::repr(one).cast<std::string>())
                            .c_str());
        throw py::error_already_set();
      }
      out.push_back(one.cast<const OwnDecision&>().decision);
    }
    return out;
  }

  static void tell_where(const py::error_already_set& error, const View& view) {
    if (!py::hasattr(error.value(), "add_note")) return;  // before Python 3.11
    error.value().attr("add_note")("in decide() of agent " + std::to_string(view.me.value) +
                                   " at " + std::to_string(seconds(view.now.time_since_epoch())) +
                                   " s of the run");
  }

  Kept own_;
  PolicyFacts facts_;
  Mirror mirror_;
};

[[noreturn]] void wrong(const std::string& what) { throw py::type_error("policy: " + what); }

}  // namespace

std::string add_own_policy(PolicyRegistry& registry, const py::object& own, std::uint32_t agents) {
  const bool made = PyType_Check(own.ptr()) == 0 && py::hasattr(own, "decide");
  if (!made && PyCallable_Check(own.ptr()) == 0)
    wrong("give NAME:key=value,..., an object with decide(view), or a class of such objects");
  if (made && agents > 1)
    wrong("an object decides for one agent; give its class, of which each agent gets an object");
  const py::object first = made ? own : own();
  if (!py::hasattr(first, "decide")) wrong("what the class makes has no decide(view)");
  const PolicyFacts facts = facts_of(first);
  registry.add(
      facts, [facts, made, kept = keep(own)](OptionReader&) -> Result<std::unique_ptr<Policy>> {
        const py::gil_scoped_acquire interpreter;
        Kept mine = made ? kept : keep((*kept)());
        return std::unique_ptr<Policy>(std::make_unique<OwnPolicy>(std::move(mine), facts));
      });
  return kOwn;
}

void bind_policy(py::module_& module) { bind_own_view(module); }

}  // namespace starling
