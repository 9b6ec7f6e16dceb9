// SPDX-License-Identifier: Apache-2.0
#include "tests/search/world.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tests/search/world_frame.h"

namespace starling::search {
namespace {

std::uint32_t bit(Action::Kind kind) { return 1U << static_cast<std::uint32_t>(kind); }

}  // namespace

SmallWorld::SmallWorld(const Setting& setting)
    : setting_(&setting),
      faults_left_(setting.faults.all),
      timeouts_left_(setting.faults.timeouts),
      checker_(setting.agents[0].flock) {
  for (std::uint32_t a = 0; a < 2; ++a) {
    agents_[a].epoch = Epoch{1};
    start_agent(a);
  }
  for (std::uint32_t e = 0; e < 2; ++e) start_executor(e);
  for (std::uint32_t a = 0; a < 2; ++a) {
    Submit submit;
    submit.spec = setting.jobs[a];
    post(client_node(0), Incarnation{1}, {agent_node(AgentId{a}), submit});
  }
}

SmallWorld::AgentSlot SmallWorld::copy(const AgentSlot& slot) {
  AgentSlot twin;
  twin.incarnation = slot.incarnation;
  twin.epoch = slot.epoch;
  if (slot.core) twin.core.emplace(slot.core->clone());
  twin.journal = slot.journal;
  twin.journal_hash = slot.journal_hash;
  twin.fenced = slot.fenced;
  twin.seen = slot.seen;
  return twin;
}

SmallWorld::ExecutorSlot SmallWorld::copy(const ExecutorSlot& slot) {
  ExecutorSlot twin;
  twin.incarnation = slot.incarnation;
  if (slot.core) twin.core.emplace(slot.core->clone());
  twin.journal = slot.journal;
  twin.journal_hash = slot.journal_hash;
  twin.seen = slot.seen;
  return twin;
}

SmallWorld::SmallWorld(const SmallWorld& other)
    : setting_(other.setting_),
      now_(other.now_),
      agents_{copy(other.agents_[0]), copy(other.agents_[1])},
      executors_{copy(other.executors_[0]), copy(other.executors_[1])},
      deposed_agent_(other.deposed_agent_),
      frames_(other.frames_),
      processes_(other.processes_),
      accepted_(other.accepted_),
      faults_left_(other.faults_left_),
      timeouts_left_(other.timeouts_left_),
      used_(other.used_),
      checker_(other.checker_),
      failed_(other.failed_) {
  if (other.deposed_) deposed_ = copy(*other.deposed_);
}

Instant SmallWorld::deadline(std::uint32_t node) const {
  if (node < 2) return agents_[node].core->next_deadline();
  if (node < kDeposed) return executors_[node - 2].core->next_deadline();
  return deposed_ && deposed_->core ? deposed_->core->next_deadline() : kNever;
}

void SmallWorld::fail(const std::string& what) {
  if (!failed_) failed_ = what;
}

const std::optional<std::string>& SmallWorld::violation() const noexcept {
  return failed_ ? failed_ : checker_.violation();
}

const SmallWorld::Frame& SmallWorld::frame(std::uint64_t hash) const {
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), hash,
                                   [](const auto& f, std::uint64_t h) { return f->hash < h; });
  STARLING_CHECK(at != frames_.end() && (*at)->hash == hash);
  return **at;
}

std::vector<Action> SmallWorld::actions() const {
  using Kind = Action::Kind;
  std::vector<Action> all;
  for (const auto& f : frames_) all.push_back({Kind::deliver, slot_of(f->to), f->hash});
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].whole || processes_[p].stopping) all.push_back({Kind::end, 0, p});
  }
  const std::uint32_t nodes = deposed_ && deposed_->core ? 5 : 4;
  for (std::uint32_t n = 0; n < nodes && timeouts_left_ > 0; ++n) {
    if (deadline(n) < kNever) all.push_back({Kind::timeout, n, 0});
  }
  if (faults_left_ == 0) return all;
  for (const auto& f : frames_) all.push_back({Kind::repeat, slot_of(f->to), f->hash});
  if (nodes == 5) {
    for (const auto& f : frames_) {
      if (f->to == agent_node(AgentId{deposed_agent_})) all.push_back({Kind::stray, 4, f->hash});
    }
  }
  const auto may = [&](Kind kind) { return (used_ & bit(kind)) == 0; };
  for (std::size_t p = 0; p < processes_.size() && may(Kind::fail); ++p) {
    if (!processes_[p].stopping) all.push_back({Kind::fail, 0, p});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    for (const Kind kind : {Kind::crash_agent, Kind::take_over}) {
      if (may(kind)) all.push_back({kind, i, 0});
    }
    for (const Kind kind : {Kind::crash_executor, Kind::crash_machine}) {
      if (may(kind)) all.push_back({kind, 2 + i, 0});
    }
  }
  return all;
}

void SmallWorld::apply(const Action& action) {
  using Kind = Action::Kind;
  if (action.kind != Kind::deliver && action.kind != Kind::end && action.kind != Kind::timeout) {
    faults_left_ -= faults_left_ > 0 ? 1 : 0;
    if (action.kind != Kind::repeat && action.kind != Kind::stray) used_ |= bit(action.kind);
  }
  switch (action.kind) {
    case Kind::deliver: {
      const auto at = std::lower_bound(frames_.begin(), frames_.end(), action.what,
                                       [](const auto& f, std::uint64_t h) { return f->hash < h; });
      const std::shared_ptr<const Frame> taken = *at;
      frames_.erase(at);
      deliver(*taken, true);
      break;
    }
    case Kind::repeat:
    case Kind::stray: {
      const Frame again = frame(action.what);
      action.kind == Kind::repeat ? deliver(again, true) : arrive(kDeposed, again);
      break;
    }
    case Kind::timeout:
      timeouts_left_ -= timeouts_left_ > 0 ? 1 : 0;
      now_ = std::max(now_, deadline(action.node));
      tick_due(action.node);
      break;
    case Kind::end:
    case Kind::fail:
      end(action.what, action.kind == Kind::fail ? 1 : processes_[action.what].stopping ? -15 : 0);
      break;
    case Kind::take_over:
      deposed_ = copy(agents_[action.node]);
      deposed_->fenced = true;
      deposed_agent_ = action.node;
      ++agents_[action.node].epoch.value;
      [[fallthrough]];
    case Kind::crash_agent:
      start_agent(action.node);
      break;
    case Kind::crash_machine:
      std::erase_if(processes_, [&](const Process& p) { return p.executor == action.node - 2; });
      [[fallthrough]];
    case Kind::crash_executor:
      start_executor(action.node - 2);
      break;
  }
  look();
}

void SmallWorld::look() {
  WorldView view;
  for (const Process& process : processes_)
    view.processes.push_back({process.attempt, process.gpus});
  for (const AgentSlot& slot : agents_) view.ledgers.push_back(ledger_view(*slot.core));
  checker_.look(now_, view);
  for (std::uint32_t i = 0; i < 2; ++i) {
    checker_.look_at(now_, agent_node(AgentId{i}), agents_[i].core->state());
    checker_.look_at(now_, executor_node(i), executors_[i].core->state());
  }
}

std::optional<Action> SmallWorld::fair() const {
  if (!frames_.empty()) {
    return Action{Action::Kind::deliver, slot_of(frames_.front()->to), frames_.front()->hash};
  }
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].whole || processes_[p].stopping) return Action{Action::Kind::end, 0, p};
  }
  std::uint32_t first = 0;
  for (std::uint32_t n = 1; n < 5; ++n) {
    if (deadline(n) < deadline(first)) first = n;
  }
  if (deadline(first) == kNever) return std::nullopt;
  return Action{Action::Kind::timeout, first, 0};
}

void SmallWorld::heal(bool lose_frames) {
  deposed_.reset();
  faults_left_ = timeouts_left_ = 0;
  if (lose_frames) frames_.clear();
}

}  // namespace starling::search
