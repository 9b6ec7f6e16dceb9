// SPDX-License-Identifier: Apache-2.0
// The stories of tests/stories/: what is done, and every message, record, start and end that
// follows from it. Each can be read aloud. STARLING_UPDATE_STORIES=1 writes what happens now into
// the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agents/testing/testing.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// key=value words of a command line.
struct Command {
  std::string name;
  std::vector<std::string> words;
  std::map<std::string, std::string> options;

  [[nodiscard]] std::uint32_t number(const std::string& key, std::uint32_t otherwise) const {
    const auto at = options.find(key);
    return at == options.end() ? otherwise : static_cast<std::uint32_t>(std::stoul(at->second));
  }
  [[nodiscard]] std::uint32_t word(std::size_t i) const {
    return static_cast<std::uint32_t>(std::stoul(words.at(i)));
  }
};

Command read_command(const std::string& line) {
  std::istringstream in(line);
  Command command;
  in >> command.name;
  for (std::string word; in >> word;) {
    const auto equal = word.find('=');
    if (equal == word.npos) {
      command.words.push_back(word);
    } else {
      command.options[word.substr(0, equal)] = word.substr(equal + 1);
    }
  }
  return command;
}

FlockOptions read_flock(const Command& command) {
  FlockOptions options;
  options.agents = command.number("agents", 1);
  options.servers = command.number("servers", 1);
  options.gpus_per_server = command.number("gpus", 4);
  options.servers_per_executor = command.number("servers_per_executor", 1);
  options.lossy = command.number("lossy", 0) > 0;
  options.delay = std::chrono::milliseconds(command.number("delay_ms", 0));
  if (command.options.contains("policy")) options.policy = command.options.at("policy");
  return options;
}

/// What the network says at the start of every story.
bool is_small_talk(const std::string& line) {
  for (const char* kind : {"Hello", "Welcome", "Ping", "Pong", "Digest"}) {
    if (line.find(std::string("  ") + kind) != line.npos) return true;
  }
  return false;
}

void act(TestFlock& flock, const Command& c) {
  if (c.name == "submit") {
    JobSpec spec;
    spec.id = JobId{0, c.word(0)};
    spec.workers = c.number("gpus", 1);
    spec.duration = std::chrono::seconds(c.number("seconds", 0));
    flock.submit(std::move(spec), c.number("home", 0));
  } else if (c.name == "resubmit") {
    JobSpec spec;
    spec.id = JobId{0, c.word(0)};
    flock.ask(c.number("home", 0), Submit{std::move(spec), {}});
  } else if (c.name == "cancel") {
    flock.cancel(c.word(0));
  } else if (c.name == "query") {
    flock.ask(c.number("agent", 0), Query{JobId{0, c.word(0)}});
  } else if (c.name == "explain") {
    flock.ask(c.number("agent", 0), Explain{JobId{0, c.word(0)}});
  } else if (c.name == "lose") {
    flock.lose_next(c.words.at(0), c.number("times", 1));
  } else if (c.name == "refuse") {
    flock.refuse_next_launch();
  } else if (c.name == "exit_code") {
    flock.set_exit_code(c.word(0), static_cast<int>(c.word(1)));
  } else if (c.name == "crash") {
    flock.crash_agent(c.word(0));
  } else if (c.name == "restart") {
    flock.restart_agent(c.word(0));
  } else if (c.name == "cut" || c.name == "heal") {
    flock.set_cut(agent_node(AgentId{c.word(0)}), agent_node(AgentId{c.word(1)}), c.name == "cut");
  } else if (c.name == "freeze") {
    flock.freeze_agent(c.word(0), std::chrono::seconds(c.word(1)));
  } else if (c.name == "sick") {
    flock.set_sick(c.word(0), {GpuId{c.word(1)}});
  } else if (c.name == "well") {
    flock.set_sick(c.word(0), {});
  } else if (c.name == "status") {
    flock.ask(c.number("agent", 0), StatusQuery{});
  } else if (c.name == "drain" || c.name == "undrain") {
    flock.ask(c.number("agent", 0),
              SetDrain{ServerId{c.word(0)}, c.name == "drain", c.number("evict", 0) > 0});
  } else if (c.name == "run") {
    flock.run_for(std::chrono::seconds(c.word(0)));
  } else {
    FAIL("a story has an unknown command: " << c.name);
  }
}

/// The story with what follows from its commands.
std::string play(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  std::unique_ptr<TestFlock> flock;
  for (std::string line; std::getline(in, line);) {
    const bool command = line.starts_with("> ");
    if (!command && !line.starts_with("#") && !line.empty()) continue;
    out += line + '\n';
    if (!command) continue;
    const Command c = read_command(line.substr(2));
    if (c.name == "flock") {
      flock = std::make_unique<TestFlock>(read_flock(c));
      flock->run_for(std::chrono::seconds(1));
      (void)flock->take_transcript();
      continue;
    }
    REQUIRE(flock != nullptr);
    act(*flock, c);
    for (const std::string& happened : flock->take_transcript()) {
      if (!is_small_talk(happened)) out += happened + '\n';
    }
  }
  REQUIRE(flock != nullptr);
  CHECK(flock->faults().empty());
  return out;
}

TEST_CASE("every story goes as it is told") {
  const char* source = std::getenv("STARLING_SOURCE");
  const fs::path folder = fs::path(source == nullptr ? "." : source) / "tests" / "stories";
  const bool update = std::getenv("STARLING_UPDATE_STORIES") != nullptr;
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE_MESSAGE(files.size() >= 12, "no stories in "
                                          << folder.string()
                                          << "; set STARLING_SOURCE to the source tree");
  for (const fs::path& file : files) {
    CAPTURE(file.filename().string());
    std::ostringstream told;
    told << std::ifstream(file).rdbuf();
    const std::string happens = play(told.str());
    if (update) {
      std::ofstream(file) << happens;
      continue;
    }
    CHECK(told.str() == happens);
  }
}

}  // namespace
}  // namespace starling
