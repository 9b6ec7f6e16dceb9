// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/etcd_state.h"

#include <chrono>
#include <limits>
#include <thread>

#include "base/secret_file.h"
#include "launch/system/files.h"
#include "store/etcd/etcd_authority.h"
#include "store/etcd/etcd_client.h"

namespace starling {

namespace fs = std::filesystem;

Result<EtcdAddress> etcd_address(const Deployment& flock) {
  auto address = EtcdAddress::parse(flock.state);
  if (!address) return address;
  if (!flock.etcd.empty() && !address.value().tls) {
    return {Errc::invalid, (flock.dir / "deployment.json").string() +
                               ": etcd: is for a state in etcds://; over etcd:// everybody on the "
                               "way could read it"};
  }
  EtcdAccess& access = address.value().access;
  access = flock.etcd;
  for (std::string* file : {&access.ca, &access.certificate, &access.key, &access.password}) {
    if (!file->empty()) *file = (fs::absolute(flock.dir) / *file).lexically_normal();
  }
  return address;
}

Result<EtcdAddress> new_etcd_state(const std::string& state, const EtcdAccess& access) {
  auto flock = EtcdAddress::parse(state);
  if (!flock) return {flock.error().code, "--state: " + flock.error().message};
  EtcdAddress& address = flock.value();
  address.access = access;
  if (const Status fits = address.check_access(); !fits.ok()) return fits.error();
  if (address.name.empty()) address.name = new_holder().substr(0, 16);
  // May it read and write there? etcd looks at both branches before it looks at the condition,
  // which never holds.
  const std::string root = etcd_root(address);
  const auto tried = EtcdClient(address).txn(
      {{EtcdCompare::revision_is(root, std::numeric_limits<std::int64_t>::max())},
       {EtcdOp::erase_range(root, behind(root))},
       {EtcdOp::get(root)}});
  if (!tried) return {tried.error().code, "--state: " + tried.error().message};
  // Two flocks would take one another's partitions, and run what the other has run.
  const auto there = EtcdClient(address).range(root, behind(root), 1);
  if (!there) return {there.error().code, "--state: " + there.error().message};
  if (!there.value().entries.empty()) {
    return {Errc::conflict,
            "--state: " + address.url() + " has the state of another flock ('" +
                there.value().entries.front().key +
                "'); give another name, or none, or end that flock with 'starling down --remove'"};
  }
  return flock;
}

Result<EtcdAccess> keep_etcd_files(const EtcdAccess& access, const fs::path& dir) {
  EtcdAccess kept;
  kept.user = access.user;
  const auto keep = [&](const std::string& from, const char* name, bool secret,
                        std::string& as) -> Status {
    if (from.empty()) return done();
    if (Status made = make_folder(dir / kEtcdFolder, 0700); !made.ok()) return made;
    const auto text = secret ? read_secret(from) : read_text(from);
    if (!text) return text.error();
    as = std::string(kEtcdFolder) + "/" + name;
    return write_text(dir / as, text.value(), 0600);
  };
  for (const Status& s : {keep(access.ca, "ca.pem", false, kept.ca),
                          keep(access.certificate, "certificate.pem", false, kept.certificate),
                          keep(access.key, "key.pem", true, kept.key),
                          keep(access.password, "password", true, kept.password)}) {
    if (!s.ok()) return s.error();
  }
  return kept;
}

Status forget_etcd_state(const EtcdAddress& flock) {
  const auto erased = EtcdClient(flock).erase_prefix(etcd_root(flock));
  return erased ? done() : Status(erased.error());
}

Status forget_stopped_flock(const Deployment& deployment) {
  if (deployment.state.empty()) return done();
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  EtcdClient client(flock.value());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (const DeployedNode* agent : deployment.with_role(Role::agent)) {
    const std::string alive = EtcdKeys(flock.value(), agent->partition).alive;
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(200))) {
      const auto found = client.range(alive, behind(alive), 1);
      if (!found) return found.error();
      if (found.value().entries.empty()) break;
      if (std::chrono::steady_clock::now() > give_up) {
        return {Errc::busy, "partition " + std::to_string(agent->partition.value) + " in " +
                                deployment.state + " is still served; stop its agent first"};
      }
    }
  }
  return forget_etcd_state(flock.value());
}

}  // namespace starling
