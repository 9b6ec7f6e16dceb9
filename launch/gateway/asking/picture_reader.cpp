// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/asking/picture_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"
#include "launch/deployment/deployment.h"
#include "launch/gateway/asking/flock_workers.h"
#include "launch/hardware/hardware_finding.h"
#include "launch/hosts/keeper.h"

namespace starling {
namespace {

constexpr Duration kLeastPause = std::chrono::seconds(1);
/// A keeper of queues that is silent delays the picture by so much.
constexpr Duration kQueuesPatience = std::chrono::seconds(1);
constexpr int kShare = 20;  // of the time, one part is spent on reading

/// What a flock that cannot be read looks like: as it did before, and why that is old.
FlockPicturePtr failed_picture(const FlockPicturePtr& before, const std::string& why) {
  auto picture = before == nullptr ? std::make_shared<FlockPicture>()
                                   : std::make_shared<FlockPicture>(*before);
  picture->failure = why;
  return picture;
}

std::map<std::string, std::uint32_t> found_hardware(const Deployment& flock) {
  std::map<std::string, std::uint32_t> gpus;
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    for (const HardwareFinding& finding : read_findings(flock.node_dir(node->name)))
      gpus[name_of(finding.kind)] += static_cast<std::uint32_t>(finding.gpus.size());
  }
  return gpus;
}

FlockPicturePtr read_picture(const std::filesystem::path& dir, std::unique_ptr<FlockClient>& client,
                             const FlockPicturePtr& before) {
  const auto got = current_client(dir, client);
  if (!got) return failed_picture(before, got.error().message);
  FlockClient& flock = *got.value();
  auto picture = std::make_shared<FlockPicture>();
  picture->begun = Session::now();
  picture->at = std::chrono::system_clock::now();
  picture->generation = flock.deployment().generation;
  if (before != nullptr && before->generation == picture->generation && !before->owners.empty()) {
    picture->topology = before->topology;
    picture->owners = before->owners;
  } else {
    picture->topology = std::make_shared<const Topology>(flock.topology());
    for (std::uint32_t s = 0; s < flock.topology().server_count(); ++s)
      picture->owners.push_back(flock.owner_of(ServerId{s}));
  }
  auto agents = flock.agents_found();
  if (!agents) return failed_picture(before, agents.error().message);
  picture->agents = std::move(agents.value().agents);
  auto jobs = flock.jobs();
  if (!jobs) return failed_picture(before, jobs.error().message);
  picture->jobs = std::move(jobs.value().jobs);
  picture->silent = std::move(jobs.value().silent);
  for (const AgentId agent : agents.value().silent) {
    if (std::find(picture->silent.begin(), picture->silent.end(), agent) == picture->silent.end())
      picture->silent.push_back(agent);
  }
  std::sort(picture->silent.begin(), picture->silent.end());
  for (const AgentStatus& a : picture->agents) picture->hosts[a.agent] = flock.host_of(a.agent);
  if (auto queues = flock.queues(kQueuesPatience)) picture->queues = std::move(queues).value();
  picture->troubles = daemon_troubles(dir);
  picture->hardware = found_hardware(flock.deployment());
  return picture;
}

}  // namespace

PictureReader::PictureReader(std::filesystem::path dir, std::function<void(FlockPicturePtr)> show)
    : dir_(std::move(dir)), show_(std::move(show)), thread_([this] { run(); }) {}

PictureReader::~PictureReader() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PictureReader::run() {
  std::unique_ptr<FlockClient> client;
  FlockPicturePtr before;
  for (;;) {
    const Instant begun = Session::now();
    before = read_picture(dir_, client, before);
    show_(before);
    const Duration took = Session::now() - begun;
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::max<Duration>(kLeastPause, took * (kShare - 1)),
                          [this] { return over_; }))
      return;
  }
}

}  // namespace starling
