// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/tasks.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace starling {
namespace {

using namespace std::chrono_literals;

Instant at(Duration d) { return Instant(d); }

TEST_CASE("tasks run one at a time, in the order of their waits") {
  Tasks tasks;
  std::string said;
  const Tasks::Group one = tasks.new_group(), two = tasks.new_group();
  const auto speaker = [&](char name, Duration every) {
    return [&tasks, &said, name, every] {
      for (int i = 0; i < 3; ++i) {
        said += name;
        tasks.wait_until(tasks.now() + every);
      }
    };
  };
  tasks.start(one, speaker('a', 2s));
  tasks.start(two, speaker('b', 3s));
  tasks.at(at(2s), [&] { said += '!'; });
  tasks.run_until(at(1s));
  CHECK(said == "ab");
  tasks.run_until(at(10s));
  CHECK(said == "ab!abab");
  CHECK(tasks.now() == at(10s));
}

TEST_CASE("a task that is ended unwinds at its wait, and one that stands still goes on later") {
  Tasks tasks;
  struct Leaves {
    Tasks& tasks;
    std::string& said;
    ~Leaves() {
      CHECK(tasks.ending());
      tasks.wait_until(tasks.now() + 1h);
      said += "left ";
    }
  };
  std::string said;
  const Tasks::Group one = tasks.new_group(), two = tasks.new_group();
  tasks.start(one, [&] {
    const Leaves leaves{tasks, said};
    tasks.wait_until(at(1h));
    said += "never ";
  });
  tasks.start(two, [&] {
    tasks.wait_until(at(2s));
    said += "late ";
    tasks.start(two, [&] { said += "child "; });
  });
  tasks.freeze(two, at(5s));
  tasks.at(at(1s), [&] { tasks.end(one); });
  tasks.run_until(at(4s));
  CHECK(said == "left ");
  tasks.run_until(at(6s));
  CHECK(said == "left late child ");
}

}  // namespace
}  // namespace starling
