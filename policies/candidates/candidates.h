// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "policies/candidates/candidates_residents.h"
#include "policies/parts/queue_index.h"
#include "scheduling/packing.h"
#include "topology/free_servers.h"

namespace starling {

/// Gains and slowdowns are integers, in millionths, so that two machines agree which is larger.
constexpr std::int64_t kGpu = 1'000'000;

enum class CandidateKind : std::uint8_t {
  tight,   ///< free GPUs of the fewest servers, best fit
  rack,    ///< free GPUs of one scale-up domain or rack
  spread,  ///< free GPUs of the emptiest servers
  beside,  ///< all on GPUs of one running job
  server   ///< on one server, free GPUs first, then beside several
};

/// One place for a job, and what the speed model predicts of it.
struct Candidate {
  /// A job that would run slower. `shares`: on the same GPU.
  struct Loss {
    std::uint32_t slot = 0;  ///< of Candidates::residents()
    std::uint32_t gpus = 0;
    double before = 1, after = 1;
    bool shares = false;
    double unsure = 0;  ///< standard deviation of `after`, as the speed model says
  };
  CandidateKind kind = CandidateKind::tight;
  Placement placement;
  double own = 0;       ///< relative speed of the job there now
  double unshared = 0;  ///< the same once no job shares its GPUs any more
  double unsure = 0;    ///< standard deviation of `own`, as the speed model says
  /// gpus * own - sum over losses of gpus * (before - after), in millionths of a GPU.
  std::int64_t gain = 0;
  /// (1 / own - 1) + sum over losses of (1 / after - 1 / before).
  std::int64_t slowdown = 0;
  std::vector<Loss> losses;
  [[nodiscard]] bool shares() const noexcept { return kind >= CandidateKind::beside; }
  /// GPU speeds that others lose to it, in millionths.
  [[nodiscard]] std::int64_t inflicted_loss() const;
};

/// What a waiting job, or any number that look alike, needs of its place.
struct PlacementRequest {
  const JobSpec* spec = nullptr;
  std::uint32_t gpus = 1;
  std::uint32_t gpus_per_worker = 1;  ///< stay on one server
  std::uint32_t look = 0;             ///< QueueEntry::look: equal looks get equal answers
  std::uint32_t profile = 0;          ///< of Residents
};

class Candidates;

/// What Candidates keep from call to call of one partition: who runs there, what is free, and what
/// was predicted, while no job comes to its servers or leaves them.
class CandidateMemory {
 public:
  /// `follow`: see Residents.
  explicit CandidateMemory(bool follow = false) : residents_(follow) {}
  CandidateMemory(const CandidateMemory&) = delete;
  CandidateMemory& operator=(const CandidateMemory&) = delete;

  /// Of that call, and valid until the next. `share`: two jobs on a GPU, where the view lets them.
  [[nodiscard]] Candidates sync(const View& view, bool share);
  /// Such a job has a place in the empty partition.
  [[nodiscard]] bool fits(const JobSpec& spec, const Occupancy& empty);

 private:
  friend class Candidates;
  struct Known {
    std::uint64_t version = 0;  // of the newest of its servers
    Candidate candidate;
  };
  /// A pair alone on its GPUs: what it would gain, and whether it fits.
  struct Pair {
    bool known = false, fits = false;
    std::int64_t slowdown = 0;
  };
  void note_changes();

  Residents residents_;
  FreeServers free_;
  FreeServers empty_;
  std::vector<std::uint32_t> changed_;
  std::uint64_t forgotten_ = 1;
  std::uint64_t forgot_ = 0;  // how often known_ was emptied
  std::uint64_t model_ = 0;   // version of the speed model that was asked
  Neighbours beside_, theirs_;
  std::vector<std::uint32_t> slots_;        // of beside_
  std::vector<std::vector<double>> alone_;  // by look, by kind; below 0: not asked yet
  std::vector<std::vector<Pair>> pairs_;    // by profile, by group
  std::unordered_map<std::uint64_t, Known> known_;
};

/// The places that a waiting job could have in one partition, and what each is worth: its own speed
/// and, of all who share a server with it, the speed before and after. Neighbours are those whom
/// the home knows; a GPU whose tenant it does not know is never shared, nor one that has two
/// tenants, nor one whose memory the pair does not fit.
///
/// The number of candidates does not grow with the cluster: free GPUs give at most three per GPU
/// type, and of running jobs that look alike (Residents::Group) the lowest stands for all, with the
/// kShared groups that promise the most looked at closely.
///
/// Of one call of decide(): CandidateMemory makes one for each, and the view, which is not copied,
/// outlives it.
class Candidates {
 public:
  static constexpr std::size_t kShared = 3;
  using Found = std::vector<const Candidate*>;

  /// From now on: what has been promised so far, kept up by whom it is of; no candidate lacks the
  /// CPUs or the memory beside it. Must outlive this.
  void plan_on(const Occupancy& planned, const Shape& shape) {
    planned_ = &planned, shape_ = shape;
  }
  /// A place by the plain rules of packing.h, on one server or else over several, for a job whose
  /// needs of CPUs and memory leave it none of the usual places.
  [[nodiscard]] std::optional<Placement> with_means(const PlacementRequest& request) const;
  /// The policy starts `job` there.
  void start(const JobView& job, const Placement& placement);
  /// The policy stops the job, which is not over: it teaches nothing of how long such jobs take.
  void stop(const JobView& job);
  /// What is free of those GPUs is kept for a job that does not start yet.
  void keep(const Placement& placement);

  [[nodiscard]] PlacementRequest request(const JobSpec& spec, std::uint32_t look);
  /// On free GPUs: tight, rack and spread for every type that the job may have; over several types
  /// only if none alone has room. Best slowdown first, ties in that order. These and the next are
  /// valid until version() grows.
  [[nodiscard]] Found exclusive(const PlacementRequest& request);
  /// On GPUs of others, if GPUs may be shared: the kShared best groups, and for gangs the server
  /// of those with the most free GPUs where it is slowed least. Best slowdown first, ties to equal
  /// size, then lowest.
  [[nodiscard]] Found shared(const PlacementRequest& request);
  /// Speed of such a job on the best place of the empty partition, and the best of one kind of
  /// FreeServers; 0 if there is none.
  [[nodiscard]] double alone(const PlacementRequest& request, const Occupancy& empty);
  [[nodiscard]] double alone(const PlacementRequest& request, const Occupancy& empty,
                             std::uint32_t kind);

  /// What could share GPUs with a gang that spans partitions, as Policy::co_tenants(). A gang that
  /// asks for CPUs or memory shares with none: what is left of those beside its free GPUs is not
  /// known here.
  [[nodiscard]] std::vector<CoTenant> co_tenants(const JobSpec& gang, std::size_t most);
  /// GPUs of the type that have one known tenant, for the same.
  [[nodiscard]] std::uint64_t open_of(GpuTypeId type) const;

  [[nodiscard]] bool sharing() const noexcept { return sharing_; }
  /// Some GPU has one known tenant.
  [[nodiscard]] bool room_to_share() const {
    return sharing() && !memory_->residents_.live_groups().empty();
  }
  /// The job may join what is on that GPU: a free one, or one of a known job that leaves it the
  /// memory.
  [[nodiscard]] bool may_join(const PlacementRequest& request, GpuId gpu);
  [[nodiscard]] const FreeServers& free() const noexcept { return memory_->free_; }
  [[nodiscard]] Residents& residents() noexcept { return memory_->residents_; }
  /// Grows with every change of what lies where; the same: the same answers, still valid.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return memory_->residents_.version() + memory_->free_.version() + memory_->forgot_;
  }
  /// A journal of the servers on which anything changed: where it ends, and what came since a
  /// position; nothing if that is too long ago.
  [[nodiscard]] std::uint64_t changes() const noexcept {
    return memory_->forgotten_ + memory_->changed_.size();
  }
  [[nodiscard]] std::optional<std::span<const std::uint32_t>> changed_since(
      std::uint64_t position) const;
  /// Of kinds of FreeServers: those that the job may use, by type.
  [[nodiscard]] std::vector<std::uint32_t> kinds(const JobSpec& spec) const;

 private:
  friend class CandidateMemory;
  using Pair = CandidateMemory::Pair;
  Candidates(CandidateMemory& memory, const View& view, bool share)
      : memory_(&memory), view_(&view), sharing_(share) {}
  [[nodiscard]] std::vector<std::uint32_t> kinds_or_all(const JobSpec& spec) const;
  const Candidate& predict(const PlacementRequest& request, CandidateKind kind,
                           Placement placement);
  void predict_anew(const PlacementRequest& request, Candidate& candidate);
  void collect(const std::vector<std::uint32_t>& servers, std::uint32_t but, Neighbours& into,
               std::vector<std::uint32_t>* slots) const;
  [[nodiscard]] std::vector<std::uint32_t> servers_of(const Placement& placement) const;
  const Pair& pair(const PlacementRequest& request, std::uint32_t group);
  [[nodiscard]] std::optional<Placement> beside(const PlacementRequest& request,
                                                const Resident& other) const;
  [[nodiscard]] Placement open_workers(const Resident& other, std::uint32_t worker) const;
  [[nodiscard]] std::optional<Placement> on_server(const PlacementRequest& request);
  void add(const PlacementRequest& request, CandidateKind kind, std::optional<Placement> placement,
           Found& out);
  [[nodiscard]] const Occupancy& planned() const {
    return planned_ != nullptr ? *planned_ : view_->gpus;
  }

  CandidateMemory* memory_;
  const View* view_;
  const Occupancy* planned_ = nullptr;
  Shape shape_;
  bool sharing_;
};

}  // namespace starling
