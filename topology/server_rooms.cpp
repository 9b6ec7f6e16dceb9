// SPDX-License-Identifier: Apache-2.0
#include "topology/server_rooms.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace starling {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // CPU, or GiB

bool before(const ServerRoom& a, const ServerRoom& b) {
  return std::tuple(b.free, a.type, b.left) < std::tuple(a.free, b.type, a.left);
}

bool is_alike(const ServerRoom& a, const ServerRoom& b) {
  return std::tie(a.free, a.type, a.left) == std::tie(b.free, b.type, b.left);
}

std::uint32_t times(std::int64_t left, std::int64_t each) {
  if (each <= 0 || left == ServerRoom::kAnyAmount) return Occupancy::kAnyNumber;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(left / each, Occupancy::kAnyNumber));
}

std::int64_t left_of(double has, std::int64_t taken) {
  const std::int64_t all = ServerRoom::amount_of(has);
  return all == ServerRoom::kAnyAmount ? all : std::max<std::int64_t>(all - taken, 0);
}

void round_down(std::int64_t& left, std::int64_t unit) {
  if (left != ServerRoom::kAnyAmount) left -= left % unit;
}

}  // namespace

std::int64_t ServerRoom::amount_of(double has) noexcept {
  const double most = static_cast<double>(kMostAmount);
  return has > 0 ? std::llround(std::min(has * 1e6, most)) : kAnyAmount;
}

std::uint32_t ServerRoom::gpus_for(Demand each) const noexcept {
  return std::min({free, times(left.cpus, each.cpus), times(left.memory, each.memory)});
}

bool ServerRoom::is_sane() const noexcept {
  const auto sane = [](std::int64_t amount) {
    return amount == kAnyAmount || (amount >= 0 && amount <= kMostAmount);
  };
  return sane(left.cpus) && sane(left.memory);
}

void make_fewer(std::vector<ServerRoom>& rooms, std::size_t most) {
  std::int64_t largest = 0;
  for (const ServerRoom& room : rooms) {
    for (const std::int64_t left : {room.left.cpus, room.left.memory}) {
      if (left != ServerRoom::kAnyAmount) largest = std::max(largest, left);
    }
  }
  for (std::int64_t unit = kOne; rooms.size() > most && unit / 2 <= largest; unit *= 2) {
    for (ServerRoom& room : rooms) {
      round_down(room.left.cpus, unit);
      round_down(room.left.memory, unit);
    }
    std::ranges::sort(rooms, before);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < rooms.size(); ++i) {
      if (is_alike(rooms[kept], rooms[i])) {
        rooms[kept].servers += rooms[i].servers;
      } else {
        rooms[++kept] = rooms[i];
      }
    }
    rooms.resize(kept + 1);
  }
  if (rooms.size() > most) rooms.resize(most);
}

void ServerRooms::read(const Occupancy& gpus, std::vector<ServerRoom>& out) {
  out.clear();
  if (!gpus.any_taken()) return;
  const auto changed = [&](std::uint32_t server) { look(gpus, server); };
  if (!built_ || !gpus.changes().since(seen_, changed)) build(gpus);
  seen_ = gpus.changes().mark();
  out = rooms_;
  make_fewer(out, kMostServerRooms);
}

void ServerRooms::build(const Occupancy& gpus) {
  built_ = true;
  rooms_.clear();
  of_server_.assign(gpus.servers().size(), {});
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) look(gpus, s);
}

void ServerRooms::look(const Occupancy& gpus, std::uint32_t server) {
  const Server& it = gpus.topology().server(ServerId{server});
  ServerRoom now{it.gpu_type, gpus.free_on(ServerId{server}), 1, {}};
  const Demand taken = gpus.taken_on(ServerId{server});
  now.left = {left_of(it.cpus, taken.cpus), left_of(it.memory_gib, taken.memory)};
  ServerRoom& known = of_server_[server - gpus.servers().first];
  if (now == known) return;
  if (known.free > 0) count(known, false);
  if (now.free > 0) count(now, true);
  known = now;
}

void ServerRooms::count(const ServerRoom& room, bool more) {
  const auto at = std::ranges::lower_bound(rooms_, room, before);
  const bool there = at != rooms_.end() && is_alike(*at, room);
  if (more && !there) {
    rooms_.insert(at, room);
  } else if (more) {
    ++at->servers;
  } else if (--at->servers == 0) {
    rooms_.erase(at);
  }
}

}  // namespace starling
