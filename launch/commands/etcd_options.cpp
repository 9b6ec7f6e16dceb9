// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/etcd_options.h"

namespace starling {

void add_etcd_options(const Command& command, EtcdAccess& access) {
  command.option("--etcd-ca", access.ca, "FILE",
                 "with etcds://: who signs etcd's certificates, in PEM (default: whom the system "
                 "trusts)");
  command.option("--etcd-cert", access.certificate, "FILE",
                 "this flock's certificate for etcd, where it wants one; with --etcd-key");
  command.option("--etcd-key", access.key, "FILE", "its key, mode 0600");
  command.option("--etcd-user", access.user, "NAME",
                 "the user of etcd's that the flock is; with --etcd-password-file");
  command.option("--etcd-password-file", access.password, "FILE", "with its password, mode 0600");
}

}  // namespace starling
