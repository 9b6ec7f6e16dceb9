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

namespace {

/// A killed agent's lease has ended by then.
constexpr std::chrono::seconds kLeaseEnds{10};

/// The holder of the name: a word that no other has, and for people whose it is.
std::string founded_key(const EtcdAddress& flock) { return etcd_root(flock) + "founded"; }

std::string by_whom(const std::string& founded) {
  const std::size_t space = founded.find(' ');
  return space == std::string::npos ? "of an unknown founder" : founded.substr(space + 1);
}

/// `busy`: it is still served at `until`.
Status await_unserved(EtcdClient& client, const EtcdAddress& flock, PartitionId partition,
                      std::chrono::steady_clock::time_point until) {
  const std::string alive = EtcdKeys(flock, partition).alive;
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(200))) {
    const auto found = client.range(alive, behind(alive), 1);
    if (!found) return found.error();
    if (found.value().entries.empty()) return done();
    if (std::chrono::steady_clock::now() > until) {
      return {Errc::busy, "partition " + std::to_string(partition.value) + " in " + flock.url() +
                              " is still served; stop its agent first"};
    }
  }
}

/// It is held by no flock at present, and has as many partitions.
Status can_adopt(EtcdClient& client, const EtcdAddress& flock, std::uint32_t partitions) {
  const auto until = std::chrono::steady_clock::now() + kLeaseEnds;
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const Status over = await_unserved(client, flock, PartitionId{p}, until);
    if (!over.ok()) return {Errc::conflict, "--adopt: " + over.error().message};
  }
  for (const std::uint32_t p : {partitions - 1, partitions}) {
    const auto epoch = client.get(EtcdKeys(flock, PartitionId{p}).epoch);
    if (!epoch) return epoch.error();
    if (epoch.value().has_value() == (p < partitions)) continue;
    return {Errc::invalid, "--adopt: the flock at " + flock.url() + " has " +
                               (p < partitions ? "fewer" : "more") + " than " +
                               std::to_string(partitions) +
                               " partitions; give the --agents (and --partitions) that it had"};
  }
  return done();
}

}  // namespace

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

Result<EtcdAddress> new_etcd_state(const std::string& state, const EtcdAccess& access,
                                   const EtcdFounding& founding) {
  auto flock = EtcdAddress::parse(state);
  if (!flock) return {flock.error().code, "--state: " + flock.error().message};
  EtcdAddress& address = flock.value();
  address.access = access;
  if (const Status fits = address.check_access(); !fits.ok()) return fits.error();
  if (address.name.empty() && founding.adopt)
    return {Errc::invalid, "--adopt: --state has to name the flock, etcd://HOST:PORT/NAME"};
  if (address.name.empty()) address.name = new_holder().substr(0, 16);
  EtcdClient client(address);
  // May it read and write there? etcd looks at both branches before it looks at the condition,
  // which never holds.
  const std::string root = etcd_root(address);
  const auto tried =
      client.txn({{EtcdCompare::revision_is(root, std::numeric_limits<std::int64_t>::max())},
                  {EtcdOp::erase_range(root, behind(root))},
                  {EtcdOp::get(root)}});
  if (!tried) return {tried.error().code, "--state: " + tried.error().message};
  const auto there = client.range(root, behind(root), 1);
  if (!there) return {there.error().code, "--state: " + there.error().message};
  const auto founded = client.get(founded_key(address));
  if (!founded) return {founded.error().code, "--state: " + founded.error().message};
  const bool something = !there.value().entries.empty();
  // Two flocks would take one another's partitions, and run what the other has run.
  if (something && !founding.adopt) {
    const std::string whose = founded.value() ? by_whom(founded.value()->value)
                                              : "'" + there.value().entries.front().key + "'";
    return {Errc::conflict,
            "--state: " + address.url() + " has the state of another flock (" + whose +
                "); give another name, or none, or end that flock with 'starling down --remove'. "
                "If its directory is lost and nothing of it runs any more, go on with its jobs: "
                "'starling up --adopt' with the same --topology, --agents and --state"};
  }
  if (founding.adopt) {
    if (!something)
      return {Errc::not_found, "--adopt: there is no state of a flock at " + address.url()};
    if (const Status can = can_adopt(client, address, founding.partitions); !can.ok())
      return can.error();
  }
  // What was found may have come between the two readings: only who adopts takes another's place.
  const std::int64_t replaced = founding.adopt && founded.value() ? founded.value()->revision : 0;
  const std::string mine = new_holder() + " " + founding.by;
  const auto taken = client.txn({{EtcdCompare::revision_is(founded_key(address), replaced)},
                                 {EtcdOp::put(founded_key(address), mine)},
                                 {EtcdOp::get(founded_key(address))}});
  if (!taken) return {taken.error().code, "--state: " + taken.error().message};
  if (taken.value().held) return flock;
  // A request may have been done by a member that did not say so.
  const auto& found = taken.value().found;
  const std::string first = found.empty() || found[0].empty() ? "" : found[0][0].value;
  if (first == mine) return flock;
  return {Errc::conflict, "--state: " + address.url() +
                              " was taken at this moment by another flock (" + by_whom(first) +
                              "); give another name, or none"};
}

void give_up_etcd_name(const EtcdAddress& flock) {
  EtcdClient client(flock);
  const std::string root = etcd_root(flock), founded = founded_key(flock);
  const auto there = client.range(root, behind(root), 2);
  if (!there || there.value().entries.size() != 1) return;
  const EtcdEntry& only = there.value().entries.front();
  if (only.key != founded) return;
  (void)client.txn(
      {{EtcdCompare::revision_is(founded, only.revision)}, {EtcdOp::erase(founded)}, {}});
}

void give_up_etcd_name(const Deployment& flock) {
  if (flock.state.empty()) return;
  if (const auto address = etcd_address(flock)) give_up_etcd_name(address.value());
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
  const auto until = std::chrono::steady_clock::now() + kLeaseEnds;
  for (const DeployedNode* agent : deployment.with_role(Role::agent)) {
    Status over = await_unserved(client, flock.value(), agent->partition, until);
    if (!over.ok()) return over;
  }
  return forget_etcd_state(flock.value());
}

}  // namespace starling
