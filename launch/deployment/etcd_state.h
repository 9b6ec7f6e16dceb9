// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "store/etcd/etcd_address.h"

namespace starling {

// Where a flock's state is in etcd, and how its processes get at it.

/// Of a flock whose `state` says so. Files of Deployment::etcd are in its directory.
[[nodiscard]] Result<EtcdAddress> etcd_address(const Deployment& flock);

/// A flock that is to have its state in etcd.
struct EtcdFounding {
  std::string by;                ///< for people: whose, and in which directory
  std::uint32_t partitions = 1;  ///< that it has
  /// With what stands there under its name, of a flock whose directory is lost.
  bool adopt = false;
};
/// What `state` says and `access`, with a name of its own for a new flock where it has none; the
/// name is taken from here on, so of two that found one flock at the same instant one has it.
/// `invalid` for a wrong address or option, `conflict` where another flock's state is under that
/// name, or one that is to be adopted is still served, `io` if etcd does not answer or does not let
/// the flock read and write there.
[[nodiscard]] Result<EtcdAddress> new_etcd_state(const std::string& state, const EtcdAccess& access,
                                                 const EtcdFounding& founding);
/// Of a flock that could not be made after all: its name is free again, if nothing else stands
/// there.
void give_up_etcd_name(const EtcdAddress& flock);
void give_up_etcd_name(const Deployment& flock);
/// Copies the files of `access` into the directory of a flock, for this user alone, and names them
/// as Deployment::etcd does.
[[nodiscard]] Result<EtcdAccess> keep_etcd_files(const EtcdAccess& access,
                                                 const std::filesystem::path& dir);
/// The folder that they are in.
inline constexpr const char* kEtcdFolder = "etcd";

/// Removes what a flock that is over has left in etcd.
[[nodiscard]] Status forget_etcd_state(const EtcdAddress& flock);
/// The same, once no agent of `deployment` holds a lease: one that was killed holds it for seconds.
/// `busy` names the partition that is still served after ten of them; then nothing is removed.
/// Nothing for a flock without state in etcd.
[[nodiscard]] Status forget_stopped_flock(const Deployment& deployment);

}  // namespace starling
