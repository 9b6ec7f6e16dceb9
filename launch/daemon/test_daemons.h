// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "launch/daemon/daemon.h"
#include "launch/deployment/deployment_plan.h"
#include "topology/generate/generate.h"

namespace starling {

/// For tests: a flock of two agents with a server of four emulated GPUs each, of which agent-0 and
/// its executor are processes and agent-1 answers nothing.
struct ForkedDaemons {
  ForkedDaemons() {
    GeneratorOptions shape;
    shape.servers = 2;
    shape.gpus_per_server = 4;
    DeploymentPlan plan;
    plan.dir = folder.path / "flock";
    plan.agents = 2;
    plan.servers_per_executor = 1;
    deployment = create_deployment(plan, generate_flat(shape).value()).value();
    start("agent-0", [](const auto& config) { return run_agent(config); });
    start("executor-0", [](const auto& config) { return run_executor(config, ""); });
  }
  ~ForkedDaemons() {
    for (const pid_t pid : children) kill(pid, SIGTERM);
    for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  }
  ForkedDaemons(const ForkedDaemons&) = delete;
  ForkedDaemons& operator=(const ForkedDaemons&) = delete;

  template <class Run>
  void start(const std::string& name, Run run) {
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string log = (deployment.node_dir(name) / "log").string();
      if (std::freopen(log.c_str(), "a", stderr) == nullptr) _exit(9);
      _exit(run(deployment.node_dir(name) / "config.json"));
    }
    children.push_back(pid);
  }

  TestFolder folder{"daemons"};
  Deployment deployment;
  std::vector<pid_t> children;
};

}  // namespace starling
