// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/hosts/host_flock.h"

namespace starling {

/// What a host must have before anything is put on it.
struct HostNeeds {
  double most_skew_s = 5;              ///< between its clock and ours
  std::uint64_t least_free_mib = 200;  ///< on the disk of its directory
};

/// What a first look at a host found.
struct HostFindings {
  std::string directory;      ///< absolute
  std::string ground;         ///< the nearest folder above it that was there
  bool existed = false;       ///< the directory
  double skew_s = 0;          ///< its clock less ours
  std::string program_sum;    ///< of the program in the directory; empty without one
  std::string other_program;  ///< how the program there differs from ours, if it does
};

/// Prepares the hosts of a flock that is to be made, step by step; each step looks at all hosts at
/// once, and fails with one line for each host that is not fit. What was put on a host goes away
/// with undo().
class Preflight {
 public:
  /// Directories of `flock` become absolute. All outlive it.
  Preflight(HostFlock& flock, Remote& remote) : flock_(flock), remote_(remote) {}

  /// Reaches each host; looks at its clock, its disk, and whether its directory is free or ours.
  [[nodiscard]] Status look(const HostNeeds& needs);
  /// Copies the program to where it is not.
  [[nodiscard]] Status send_program();
  /// Free addresses of the hosts, from programs there that were found to fit ours.
  [[nodiscard]] Result<AddressBook> addresses(const std::map<std::string, std::size_t>& wanted);
  /// Whether each host, and this machine, reaches every node's address on all others.
  [[nodiscard]] Status reach(const Deployment& deployment) const;
  /// Removes what was put on hosts whose directories were free.
  void undo() const;

  [[nodiscard]] const std::vector<HostFindings>& findings() const { return findings_; }

 private:
  HostFlock& flock_;
  Remote& remote_;
  std::vector<HostFindings> findings_;
  bool touched_ = false;
};

/// A host on which nothing runs gets this program, if it has another one and none of its own.
[[nodiscard]] Status bring_up_to_date(const Remote& remote, const Host& host);

/// All messages that are not empty, one a line; done() if there is none.
[[nodiscard]] Status together(const std::vector<std::string>& messages);

/// Copies this program to a host, if it is not there yet.
[[nodiscard]] Status send_program_to(const Remote& remote, const Host& host,
                                     const std::string& there);
/// What `sha256sum` says of this program; empty if it cannot be read.
[[nodiscard]] std::string own_sum();

}  // namespace starling
