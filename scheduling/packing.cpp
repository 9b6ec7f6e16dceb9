// SPDX-License-Identifier: Apache-2.0
#include "scheduling/packing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace starling {
namespace {

struct Part {
  ServerId server;
  std::uint32_t gpus;
};

Placement collect(const Occupancy& gpus, const std::vector<Part>& parts) {
  Placement out;
  for (const Part& part : parts) {
    const auto taken = gpus.free_gpus(part.server, part.gpus);
    out.insert(out.end(), taken.begin(), taken.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// A gang is placed wholly or not at all.
std::optional<Placement> all_of(Placement placement, std::uint32_t count) {
  if (placement.size() < count) return std::nullopt;
  return placement;
}

bool is_in(const std::vector<Part>& parts, ServerId server) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part& part) { return part.server == server; });
}

/// The lowest server with exactly `free` free GPUs that is not in `parts`.
std::optional<ServerId> not_in(const Occupancy& gpus, const std::vector<Part>& parts,
                               std::uint32_t free) {
  auto found = gpus.with_free(free, ServerId{gpus.servers().first});
  while (found && is_in(parts, *found)) {
    found = gpus.with_free(free, ServerId{found->value + 1});
  }
  return found;
}

/// Best fit among `servers` that are not in `parts`.
std::optional<ServerId> best_among(const Occupancy& gpus, std::span<const ServerId> servers,
                                   Demand each, const std::vector<Part>& parts,
                                   std::uint32_t count) {
  std::optional<ServerId> best;
  for (const ServerId server : servers) {
    const std::uint32_t free = gpus.free_on(server, each);
    if (free < count || (best && free >= gpus.free_on(*best, each))) continue;
    if (!is_in(parts, server)) best = server;
  }
  return best;
}

/// GPUs of the server that such a job can have when no other is there.
std::uint32_t most_of(const Topology& topology, ServerId server, Demand each) {
  const Server& it = topology.server(server);
  return std::min(it.gpus.size(), Occupancy::room_of(it, each));
}

/// Best fit among all servers that are not in `parts`.
std::optional<ServerId> best_beside(const Occupancy& gpus, const std::vector<Part>& parts,
                                    std::uint32_t count) {
  for (std::uint32_t free = count; free < gpus.sizes().size(); ++free) {
    if (const auto found = not_in(gpus, parts, free)) return found;
  }
  return std::nullopt;
}

std::vector<ServerId> all_servers(const Occupancy& gpus) {
  std::vector<ServerId> servers;
  for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i)
    servers.push_back(ServerId{i});
  return servers;
}

std::vector<ServerId> allowed_servers(const Occupancy& gpus, const JobSpec& job) {
  std::vector<ServerId> servers = all_servers(gpus);
  std::erase_if(servers, [&](ServerId s) { return !allows(job, gpus.topology(), s); });
  return servers;
}

/// [k]: servers of which such a job could have k GPUs if no other were there.
std::vector<std::uint32_t> sizes_among(const Topology& topology, std::span<const ServerId> servers,
                                       Demand each) {
  std::vector<std::uint32_t> sizes(1);
  for (const ServerId server : servers) {
    const std::uint32_t size = most_of(topology, server, each);
    if (size >= sizes.size()) sizes.resize(size + std::size_t{1});
    ++sizes[size];
  }
  return sizes;
}

Shape shape_by(std::span<const std::uint32_t> sizes) {
  Shape shape;
  std::uint32_t most = 1;
  for (std::uint32_t size = 1; size < sizes.size(); ++size) {
    shape.gpus += size * sizes[size];
    if (sizes[size] > 0) shape.largest_server = size;
    if (sizes[size] < most) continue;
    most = sizes[size];
    shape.server = size;
  }
  return shape;
}

/// GPUs of the smallest server that has any.
std::uint32_t smallest(std::span<const std::uint32_t> sizes) {
  std::uint32_t size = 1;
  while (size + 1 < sizes.size() && sizes[size] == 0) ++size;
  return size;
}

Shape shape_among(const Topology& topology, std::span<const ServerId> servers, Demand each) {
  return shape_by(sizes_among(topology, servers, each));
}

/// Some number of wholly free servers of the commonest size and, on one more, the rest would hold
/// the gang, if no job were on them. `sizes`: servers by their GPUs.
bool whole_ones_hold(std::span<const std::uint32_t> sizes, const Shape& shape, std::uint32_t count,
                     std::uint32_t gpus_per_worker) {
  const std::uint32_t each = usable(shape.server, gpus_per_worker);
  const std::uint32_t whole = count / each, rest = count % each;
  if (sizes[shape.server] < whole) return false;
  if (rest == 0 || sizes[shape.server] > whole) return true;
  for (std::uint32_t other = rest; other < sizes.size(); ++other) {
    if (other != shape.server && sizes[other] > 0 && usable(other, gpus_per_worker) >= rest)
      return true;
  }
  return false;
}

/// goes_in_pieces() of any gang of that size, a lone worker too.
bool beyond_whole_ones(std::span<const std::uint32_t> sizes, const Shape& shape,
                       std::uint32_t count, std::uint32_t gpus_per_worker) {
  return shape.server > 0 && count > shape.server &&
         !whole_ones_hold(sizes, shape, count, gpus_per_worker);
}

/// GPUs that stay together of a gang that goes in pieces: a worker, unless it is all of the gang
/// and no server holds it.
std::uint32_t piece_of(const Shape& shape, std::uint32_t count, std::uint32_t gpus_per_worker) {
  return gpus_per_worker >= count && count > shape.largest_server ? 1 : gpus_per_worker;
}

/// Over several servers, of that shape: wholly free ones of the commonest size, and the rest by
/// best fit.
std::optional<Placement> place_over(const Occupancy& gpus, std::span<const ServerId> servers,
                                    const Shape& shape, std::uint32_t count,
                                    std::uint32_t gpus_per_worker, Demand each_gpu) {
  if (count <= shape.server || shape.server == 0) return std::nullopt;
  const std::uint32_t each = usable(shape.server, gpus_per_worker);
  std::vector<Part> parts;
  std::uint32_t left = count;
  for (const ServerId server : servers) {
    if (left < each) break;
    if (most_of(gpus.topology(), server, each_gpu) != shape.server) continue;
    if (gpus.free_on(server, each_gpu) != shape.server) continue;
    parts.push_back({server, each});
    left -= each;
  }
  if (left >= each) return std::nullopt;
  if (left > 0) {
    const auto rest = best_among(gpus, servers, each_gpu, parts, left);
    if (!rest) return std::nullopt;
    parts.push_back({*rest, left});
  }
  return collect(gpus, parts);
}

/// place_over() within the scale-up domain with the fewest free GPUs that has room, of those of
/// `servers`, ascending, that it holds.
std::optional<Placement> place_within(const Occupancy& gpus, std::span<const ServerId> servers,
                                      std::uint32_t count, std::uint32_t gpus_per_worker,
                                      Demand each) {
  const Topology& topology = gpus.topology();
  struct Domain {
    std::uint32_t free = 0;
    std::vector<ServerId> servers;
  };
  std::map<std::uint32_t, Domain> domains;
  for (const ServerId server : servers) {
    const std::uint32_t at = topology.domain_of(server);
    if (at == Topology::kNoDomain) continue;
    domains[at].free += gpus.free_on(server, each);
    domains[at].servers.push_back(server);
  }
  std::vector<const Domain*> tightest;
  for (const auto& [at, domain] : domains) {
    if (domain.free >= count) tightest.push_back(&domain);
  }
  std::ranges::stable_sort(tightest, {}, &Domain::free);
  for (const Domain* domain : tightest) {
    const Shape shape = shape_among(topology, domain->servers, each);
    if (auto found = place_over(gpus, domain->servers, shape, count, gpus_per_worker, each))
      return found;
  }
  return std::nullopt;
}

/// place_workers() over a list: the roomiest servers first, then best fit.
Placement place_workers_among(const Occupancy& gpus, std::span<const ServerId> servers,
                              std::uint32_t left, std::uint32_t worker, Demand each) {
  std::vector<Part> rooms;
  for (const ServerId server : servers) {
    const std::uint32_t room = gpus.free_on(server, each) / worker * worker;
    if (room > 0) rooms.push_back({server, room});
  }
  std::ranges::stable_sort(rooms, std::greater<>(), &Part::gpus);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < rooms.size() && left > 0; ++i) {
    std::size_t best = i;
    while (best + 1 < rooms.size() && rooms[best + 1].gpus >= left) ++best;
    const bool last = rooms[i].gpus >= left;
    parts.push_back({rooms[last ? best : i].server, std::min(rooms[i].gpus, left)});
    left -= parts.back().gpus;
  }
  return collect(gpus, parts);
}

/// place() for a job that not every server, or not all of a server, will do for: the same rules
/// over a list.
std::optional<Placement> place_among(const Occupancy& gpus, std::span<const ServerId> servers,
                                     const JobSpec& job, Fit fit) {
  const std::uint32_t count = job.gpus();
  const Demand each_gpu = demand_of(job);
  std::vector<Part> parts;
  if (fit == Fit::count) {
    std::uint32_t left = count;
    for (const ServerId server : servers) {
      const std::uint32_t part = std::min(left, gpus.free_on(server, each_gpu));
      if (part > 0) parts.push_back({server, part});
      left -= part;
      if (left == 0) return collect(gpus, parts);
    }
    return std::nullopt;
  }
  if (const auto server = best_among(gpus, servers, each_gpu, parts, count)) {
    return gpus.free_gpus(*server, count);
  }
  if (!gpus.topology().domains().empty()) {
    if (auto found = place_within(gpus, servers, count, job.gpus_per_worker, each_gpu))
      return found;
  }
  const auto sizes = sizes_among(gpus.topology(), servers, each_gpu);
  const Shape shape = shape_by(sizes);
  if (!beyond_whole_ones(sizes, shape, count, job.gpus_per_worker))
    return place_over(gpus, servers, shape, count, job.gpus_per_worker, each_gpu);
  const std::uint32_t piece = std::max(piece_of(shape, count, job.gpus_per_worker), 1U);
  return all_of(place_workers_among(gpus, servers, count, piece, each_gpu), count);
}

}  // namespace

std::uint32_t usable(std::uint32_t server_gpus, std::uint32_t gpus_per_worker) {
  if (gpus_per_worker <= 1 || gpus_per_worker > server_gpus) return server_gpus;
  return server_gpus / gpus_per_worker * gpus_per_worker;
}

std::optional<Placement> place_count(const Occupancy& gpus, std::uint32_t count) {
  if (count > gpus.free_count()) return std::nullopt;
  return gpus.lowest_free(count);
}

std::optional<Placement> place_in_domain(const Occupancy& gpus, std::uint32_t count,
                                         std::uint32_t gpus_per_worker) {
  if (gpus.topology().domains().empty()) return std::nullopt;
  return place_within(gpus, all_servers(gpus), count, gpus_per_worker, {});
}

std::optional<Placement> place_server(const Occupancy& gpus, const Shape& shape,
                                      std::uint32_t count, std::uint32_t gpus_per_worker) {
  if (count > gpus.free_count()) return std::nullopt;
  if (count <= shape.largest_server) {
    if (const auto server = gpus.best_fit(count)) return gpus.free_gpus(*server, count);
  }
  if (count > smallest(gpus.sizes())) {
    if (auto found = place_in_domain(gpus, count, gpus_per_worker)) return found;
  }
  if (count <= shape.server || shape.server == 0) return std::nullopt;
  if (beyond_whole_ones(gpus.sizes(), shape, count, gpus_per_worker)) {
    return all_of(place_workers(gpus, count, piece_of(shape, count, gpus_per_worker)), count);
  }
  const std::uint32_t each = usable(shape.server, gpus_per_worker);
  const std::uint32_t whole = count / each;
  const std::uint32_t rest = count % each;
  const auto servers = gpus.whole_free_servers(shape.server, whole);
  if (servers.size() < whole) return std::nullopt;
  std::vector<Part> parts;
  parts.reserve(servers.size() + 1);
  for (const ServerId server : servers) parts.push_back({server, each});
  if (rest > 0) {
    const auto server = best_beside(gpus, parts, rest);
    if (!server) return std::nullopt;
    parts.push_back({*server, rest});
  }
  return collect(gpus, parts);
}

std::optional<Placement> place(const Occupancy& gpus, const Shape& shape, const JobSpec& job,
                               Fit fit) {
  if (job.gpu_types.empty() && !demand_of(job).any()) {
    return fit == Fit::count ? place_count(gpus, job.gpus())
                             : place_server(gpus, shape, job.gpus(), job.gpus_per_worker);
  }
  return place_among(gpus, allowed_servers(gpus, job), job, fit);
}

bool goes_in_pieces(const Occupancy& gpus, const JobSpec& job, Fit fit) {
  const std::uint32_t count = job.gpus();
  if (fit == Fit::count || count <= 1) return false;
  const Demand each = demand_of(job);
  const bool listed = !job.gpu_types.empty() || each.any();
  const auto sizes = listed ? sizes_among(gpus.topology(), allowed_servers(gpus, job), each)
                            : std::vector(gpus.sizes().begin(), gpus.sizes().end());
  const Shape shape = shape_by(sizes);
  if (job.workers == 1 && count <= shape.largest_server) return false;  // one server or none
  return beyond_whole_ones(sizes, shape, count, job.gpus_per_worker);
}

Shape shape_for(const Occupancy& gpus, const JobSpec& job) {
  return shape_among(gpus.topology(), allowed_servers(gpus, job), demand_of(job));
}

Placement place_workers(const Occupancy& gpus, std::uint32_t want, std::uint32_t gpus_per_worker,
                        Demand each_gpu) {
  const std::uint32_t worker = std::max(gpus_per_worker, 1U);
  std::uint32_t left = want / worker * worker;
  if (left == 0 || gpus.free_count() < worker) return {};
  if (each_gpu.any()) return place_workers_among(gpus, all_servers(gpus), left, worker, each_gpu);
  const Shape shape = shape_of(gpus);
  std::vector<Part> parts;
  const auto take = [&](ServerId server, std::uint32_t count) {
    parts.push_back({server, count});
    left -= count;
  };
  if (shape.server >= worker) {
    const std::uint32_t each = usable(shape.server, worker);
    for (const ServerId server : gpus.whole_free_servers(shape.server, left / each))
      take(server, each);
  }
  while (left > 0) {
    if (const auto server = best_beside(gpus, parts, left)) {
      take(*server, left);
      break;
    }
    // No server has room for the rest: the roomiest takes what it can.
    std::optional<ServerId> roomiest;
    for (std::uint32_t free = gpus.largest_free_server(); free >= worker && !roomiest; --free) {
      roomiest = not_in(gpus, parts, free);
    }
    if (!roomiest) break;
    take(*roomiest, gpus.free_on(*roomiest) / worker * worker);
  }
  return collect(gpus, parts);
}

Occupancy& Mirror::of(const Occupancy& base) {
  const bool same = copy_ && &copy_->topology().parts() == &base.topology().parts() &&
                    copy_->servers() == base.servers() &&
                    copy_->jobs_per_gpu() == base.jobs_per_gpu();
  if (!same) copy_.emplace(base);
  copy_->follow(base);
  return *copy_;
}

}  // namespace starling
