// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/flock/injector.h"

#include <algorithm>

#include "launch/chaos/scenario/fault_kinds.h"

namespace starling::chaos_live {
namespace {

using Role = LiveFlock::Role;

std::string names_of(const std::vector<LiveFlock::Process*>& processes) {
  std::string text;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (i == 6) return text + ", ..";
    text += (i > 0 ? ", " : "") + processes[i]->name;
  }
  return text;
}

bool needs_it_up(LiveFaultKind kind) {
  return kind == LiveFaultKind::kill || kind == LiveFaultKind::stop ||
         kind == LiveFaultKind::restart || kind == LiveFaultKind::fd_limit ||
         kind == LiveFaultKind::version || kind == LiveFaultKind::memory_limit;
}

}  // namespace

Injector::Injector(const ChaosScenario& scenario, LiveFlock& flock, double began, Hooks hooks)
    : scenario_(scenario),
      flock_(flock),
      began_(began),
      hooks_(std::move(hooks)),
      plan_(plan_of(scenario)),
      noise_(Rng(scenario.seed).fork(0x9a4ba9e)) {
  for (const FaultSpec& spec : scenario.faults) {
    if (const std::string why = cannot(spec.kind); !why.empty())
      impossible_[name_of(spec.kind)] = why;
  }
}

std::string Injector::cannot(LiveFaultKind kind) const {
  const bool disk = kind == LiveFaultKind::disk_full || kind == LiveFaultKind::disk_error ||
                    kind == LiveFaultKind::slow_disk;
  if (disk && !flock_.has_disk_shim())
    return "libstarling_disk_faults.so is not beside the program (builds with sanitizers have "
           "none)";
  if (kind == LiveFaultKind::clock && !flock_.has_clock_shim())
    return "libstarling_clock_faults.so is not beside the program (builds with sanitizers have "
           "none)";
  const bool kernel = kind == LiveFaultKind::link_down || kind == LiveFaultKind::packet_loss;
  if (kernel && flock_.namespaces() == nullptr) return "hosts are not in network namespaces";
  return "";
}

Injector::Processes Injector::resolve(const FaultTarget& target, bool up, Rng& rng) {
  using K = FaultTarget::Kind;
  Processes there;
  const auto fits = [&](const Process& p) {
    switch (target.kind) {
      case K::agent:
      case K::home:
      case K::rack:
        return p.role == Role::agent;
      case K::executor:
      case K::busy_executor:
        return p.role == Role::executor;
      case K::node:
        return p.role != Role::etcd;
      case K::etcd:
        return p.role == Role::etcd;
    }
    return false;
  };
  std::optional<std::uint32_t> number = target.number;
  if (target.kind == K::home) number = hooks_.home_of_a_job();
  if (target.kind == K::busy_executor) number = hooks_.busy_executor();
  for (Process& p : flock_.processes()) {
    if (!fits(p) || p.lost || (number && p.number != *number)) continue;
    if (up && (p.pid == 0 || p.frozen > 0 || p.told_to_end >= 0)) continue;
    there.push_back(&p);
  }
  if (!target.all && !number) {
    for (std::size_t i = 0; i < there.size(); ++i)
      std::swap(there[i], there[i + rng.below(static_cast<std::uint32_t>(there.size() - i))]);
    if (there.size() > target.count) there.resize(target.count);
  }
  if (target.kind == K::rack) {
    const Processes agents = there;
    for (const Process* agent : agents) {
      for (Process& p : flock_.processes()) {
        if (p.role != Role::executor || p.rack != agent->number || p.lost) continue;
        if (!up || (p.pid != 0 && p.frozen == 0 && p.told_to_end < 0)) there.push_back(&p);
      }
    }
  }
  return there;
}

void Injector::later(double until, LiveFaultKind kind, std::function<void(double)> undo) {
  lasting_.push_back({until, kind, std::move(undo)});
}

std::size_t Injector::lasting() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(lasting_.begin(), lasting_.end(),
                    [](const Lasting& l) { return l.kind != LiveFaultKind::storm; }));
}

void Injector::inject(const PlannedFault& planned, double now) {
  const FaultSpec& spec = scenario_.faults[planned.spec];
  Rng rng = planned.rng;
  FaultRecord record{now - began_, now - began_ + planned.lasts, spec.kind, "", false};
  const FaultFacts& facts = facts_of(spec.kind);
  if (!facts.lasts) record.until = now - began_ + (facts.comes_back ? planned.down : 0);
  Processes first, second;
  if (!spec.who.empty()) first = resolve(spec.who[0], needs_it_up(spec.kind), rng);
  if (spec.who.size() == 2) {
    second = resolve(spec.who[1], false, rng);
    // Two that are drawn from the same kind are to be two.
    if (!spec.who[1].all && second == first && !first.empty()) {
      for (Process& p : flock_.processes()) {
        if (p.role == first[0]->role && &p != first[0]) {
          second = {&p};
          if (rng.chance(0.5)) break;
        }
      }
    }
  }
  record.whom = names_of(first);
  if (!second.empty()) record.whom += " to " + names_of(second);
  const bool nothing_hit =
      !spec.who.empty() && (first.empty() || (spec.who.size() == 2 && second.empty()));
  record.skipped = nothing_hit || impossible_.contains(name_of(spec.kind)) ||
                   !apply(spec, planned, first, second, now, rng);
  history_.push_back(std::move(record));
}

bool Injector::apply(const FaultSpec& spec, const PlannedFault& planned, const Processes& first,
                     const Processes& second, double now, Rng& rng) {
  const double until = now + planned.lasts;
  switch (spec.kind) {
    case LiveFaultKind::kill:
    case LiveFaultKind::restart:
      for (Process* p : first) {
        if (p->role == Role::agent) hooks_.agent_hit(p->number, spec.kind);
        spec.kind == LiveFaultKind::kill ? flock_.kill(*p, now + planned.down)
                                         : flock_.terminate(*p, now, now + planned.down);
      }
      return true;
    case LiveFaultKind::stop:
      for (Process* p : first) {
        if (p->role == Role::agent) hooks_.agent_hit(p->number, spec.kind);
        flock_.freeze(*p);
        later(until, spec.kind, [this, p](double) { flock_.wake(*p); });
      }
      return true;
    case LiveFaultKind::cut:
    case LiveFaultKind::delay:
    case LiveFaultKind::throttle:
    case LiveFaultKind::close:
    case LiveFaultKind::corrupt:
      return links(spec, planned, first, second, spec.who.size() == 2, now);
    case LiveFaultKind::swizzle:
      for (const Process* p : first) swizzle(*p, planned.lasts, now, rng);
      later(until, spec.kind, [](double) {});
      return true;
    case LiveFaultKind::frames:
      for (Process* p : first) {
        flock_.set_frames(*p, {spec.value("loss", 0), spec.value("duplicate", 0),
                               spec.value("reorder", 0), spec.value("late_ms", 0)});
        later(until, spec.kind, [this, p](double) { flock_.set_frames(*p, {}); });
      }
      return true;
    case LiveFaultKind::disk_full:
    case LiveFaultKind::disk_error:
    case LiveFaultKind::slow_disk:
      for (Process* p : first) disk(*p, spec, until);
      return true;
    case LiveFaultKind::fd_limit:
      for (Process* p : first) {
        flock_.limit_files(*p, static_cast<int>(spec.value("spare", 2)));
        later(until, spec.kind, [this, p](double) { flock_.limit_files(*p, -1); });
      }
      return true;
    case LiveFaultKind::garbage:
      for (Process* p : first) garbage_.push_back({p, spec.value("per_s", 50), now});
      later(until, spec.kind, [this, n = first.size()](double) {
        garbage_.erase(garbage_.begin(), garbage_.begin() + static_cast<std::ptrdiff_t>(
                                                                std::min(n, garbage_.size())));
      });
      return true;
    case LiveFaultKind::drain:
    case LiveFaultKind::bad_gpu:
    case LiveFaultKind::version:
    case LiveFaultKind::clock:
    case LiveFaultKind::fill_disk:
    case LiveFaultKind::memory_limit:
    case LiveFaultKind::lose:
      for (Process* p : first) machine(*p, spec, now, until, rng);
      return true;
    case LiveFaultKind::storm:
      storm_ = spec.value("times", 20);
      later(until, spec.kind, [this](double) { storm_ = 1; });
      return true;
    case LiveFaultKind::link_down:
    case LiveFaultKind::packet_loss:
      for (const Process* p : first) {
        if (p->role == Role::agent) uplink(p->rack, spec, until);
      }
      return true;
  }
  return false;
}

void Injector::uplink(std::uint32_t rack, const FaultSpec& spec, double until) {
  const bool down = spec.kind == LiveFaultKind::link_down;
  down ? flock_.namespaces()->link(rack, false)
       : flock_.namespaces()->loss(rack, spec.value("loss", 0.1));
  later(until, spec.kind, [this, rack, down](double) {
    down ? flock_.namespaces()->link(rack, true) : flock_.namespaces()->loss(rack, 0);
  });
}

bool Injector::links(const FaultSpec& spec, const PlannedFault& planned, const Processes& first,
                     const Processes& second, bool paired, double now) {
  std::vector<std::size_t> hit;
  const auto is_first = [&](const Process& p) {
    return std::find(first.begin(), first.end(), &p) != first.end();
  };
  for (Process* a : first) {
    for (Process& b : flock_.processes()) {
      // Links within the first set go on: a rack that is cut off is whole in itself.
      if (paired ? std::find(second.begin(), second.end(), &b) == second.end() || &b == a
                 : is_first(b))
        continue;
      // Only encryption can tell that bits were flipped, and etcd is spoken to without.
      if (spec.kind == LiveFaultKind::corrupt && (a->role == Role::etcd || b.role == Role::etcd))
        continue;
      if (spec.direction != Direction::in) {
        for (const std::size_t i : flock_.links_of(*a, b)) hit.push_back(i);
      }
      if (spec.direction != Direction::out) {
        for (const std::size_t i : flock_.links_of(b, *a)) hit.push_back(i);
      }
    }
  }
  std::sort(hit.begin(), hit.end());
  hit.erase(std::unique(hit.begin(), hit.end()), hit.end());
  if (hit.empty()) return false;
  const auto change = [this, hit, &spec](int sign) {
    for (const std::size_t i : hit) {
      LinkFaults& f = flock_.link(i);
      if (spec.kind == LiveFaultKind::cut) f.cuts += sign;
      if (spec.kind == LiveFaultKind::delay) {
        f.delay_s += sign * spec.value("delay_ms", 0) * 1e-3;
        f.jitter_s += sign * spec.value("jitter_ms", 0) * 1e-3;
      }
      if (spec.kind == LiveFaultKind::throttle)
        f.bytes_per_s = sign > 0 ? spec.value("bytes_per_s", 0) : 0;
      if (spec.kind == LiveFaultKind::close) f.closes_per_s = sign > 0 ? spec.value("per_s", 0) : 0;
      if (spec.kind == LiveFaultKind::corrupt) f.corrupt = sign > 0 ? spec.value("share", 0) : 0;
    }
    flock_.apply_links();
  };
  change(1);
  later(now + planned.lasts, spec.kind, [change](double) { change(-1); });
  return true;
}

void Injector::swizzle(const Process& whom, double lasts, double now, Rng& rng) {
  std::vector<std::vector<std::size_t>> peers;
  for (Process& other : flock_.processes()) {
    std::vector<std::size_t> both = flock_.links_of(whom, other);
    for (const std::size_t i : flock_.links_of(other, whom)) both.push_back(i);
    if (!both.empty()) peers.push_back(std::move(both));
  }
  const auto shuffle = [&] {
    for (std::size_t i = 0; i < peers.size(); ++i)
      std::swap(peers[i], peers[i + rng.below(static_cast<std::uint32_t>(peers.size() - i))]);
  };
  const auto spread = [&](double from, int sign) {
    shuffle();
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const double at =
          from + lasts / 2 * static_cast<double>(i) / static_cast<double>(peers.size());
      steps_.emplace_back(at, [this, links = peers[i], sign] {
        for (const std::size_t l : links) flock_.link(l).cuts += sign;
        flock_.apply_links();
      });
    }
  };
  spread(now, 1);
  spread(now + lasts / 2, -1);
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

void Injector::disk(Process& p, const FaultSpec& spec, double until) {
  const long slow = static_cast<long>(spec.value("sync_ms", 0));
  const int full = spec.kind == LiveFaultKind::disk_full,
            always = spec.kind == LiveFaultKind::disk_error && !spec.once;
  p.disk.full += full;
  p.disk.error += always;
  p.disk.errors += spec.kind == LiveFaultKind::disk_error && spec.once;
  p.disk.sync_ms += slow;
  p.disk_until = std::max(p.disk_until, until);
  flock_.set_disk(p);
  later(until, spec.kind, [this, &p, full, always, slow](double) {
    p.disk.full -= full;
    p.disk.error -= always;
    p.disk.sync_ms -= slow;
    flock_.set_disk(p);
  });
}

void Injector::step(double now) {
  for (; next_ < plan_.size() && began_ + plan_[next_].at <= now; ++next_)
    inject(plan_[next_], now);
  while (!steps_.empty() && steps_.front().first <= now) {
    const auto step = steps_.front().second;
    steps_.erase(steps_.begin());
    step();
  }
  for (std::size_t i = 0; i < lasting_.size();) {
    if (lasting_[i].until > now) {
      ++i;
      continue;
    }
    const auto undo = lasting_[i].undo;
    lasting_.erase(lasting_.begin() + static_cast<std::ptrdiff_t>(i));
    undo(now);
  }
  throw_garbage(now);
}

void Injector::heal(double now) {
  next_ = plan_.size();
  for (const auto& [at, step] : steps_) step();
  steps_.clear();
  for (const Lasting& l : lasting_) l.undo(now);
  lasting_.clear();
  for (FaultRecord& record : history_) record.until = std::min(record.until, now - began_);
  flock_.heal(now);
}

}  // namespace starling::chaos_live
