// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_address.h"

#include <algorithm>
#include <cctype>

#include "base/secret_file.h"
#include "store/etcd/tls.h"

namespace starling {
namespace {

constexpr std::string_view kPlain = "etcd://", kSecure = "etcds://";

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value > 0 && value <= 65'535;
}

}  // namespace

Result<EtcdAddress> EtcdAddress::parse(const std::string& url) {
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::invalid, "'" + url + "': " + what +
                                    "; give etcd://HOST:PORT[,HOST:PORT...], or etcds:// with TLS"};
  };
  if (!is_one(url)) return wrong("not an etcd address");
  EtcdAddress address;
  address.tls = url.starts_with(kSecure);
  std::string rest = url.substr(address.tls ? kSecure.size() : kPlain.size());
  if (const auto slash = rest.find('/'); slash != std::string::npos) {
    address.name = rest.substr(slash + 1);
    rest.resize(slash);
    if (!is_name(address.name))
      return wrong("a name behind the '/' is of letters, digits, '-', '_' and '.'");
  }
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = std::min(rest.find(',', begin), rest.size());
    const std::string member = rest.substr(begin, end - begin);
    const std::size_t colon = member.rfind(':');
    if (colon == std::string::npos || colon == 0 || !is_port(member.substr(colon + 1)))
      return wrong("'" + member + "' is not HOST:PORT");
    address.members.emplace_back(member.substr(0, colon), member.substr(colon + 1));
    begin = end + 1;
  }
  return address;
}

std::string EtcdAddress::url() const {
  std::string text;
  for (const auto& [host, port] : members) text += (text.empty() ? "" : ",") + host + ":" + port;
  text.insert(0, tls ? kSecure : kPlain);
  return name.empty() ? text : text + "/" + name;
}

Status EtcdAddress::check_access() const {
  if (access.empty()) return done();
  if (!tls) {
    return {Errc::invalid,
            "certificates and passwords are for etcds://, which is etcd with TLS; over etcd:// "
            "everybody on the way could read them"};
  }
  if (access.certificate.empty() != access.key.empty())
    return {Errc::invalid, "--etcd-cert and --etcd-key go together"};
  if (access.user.empty() != access.password.empty())
    return {Errc::invalid, "--etcd-user and --etcd-password-file go together"};
  if (const auto context = tls_context(tls_files(access)); !context) return context.error();
  if (access.user.empty()) return done();
  const auto password = read_password(access);
  return password ? done() : Status(password.error());
}

TlsFiles tls_files(const EtcdAccess& access) { return {access.ca, access.certificate, access.key}; }

Result<std::string> read_password(const EtcdAccess& access) {
  auto text = read_secret(access.password);
  if (!text) return text;
  std::string& word = text.value();
  while (!word.empty() && (word.back() == '\n' || word.back() == '\r')) word.pop_back();
  if (word.empty()) return {Errc::invalid, access.password + ": holds no password"};
  return text;
}

EtcdKeys::EtcdKeys(const EtcdAddress& flock, PartitionId partition) {
  const std::string root = etcd_root(flock) + "partition-" + std::to_string(partition.value) + "/";
  epoch = root + "epoch";
  alive = root + "alive";
  hand_back = root + "wish";
  head = root + "head";
  journal = root + "journal/";
  archive = root + "archive/";
}

std::string etcd_root(const EtcdAddress& flock) { return "/starling/" + flock.name + "/"; }

std::string behind(std::string prefix) {
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace starling
