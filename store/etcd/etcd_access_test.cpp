// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "store/etcd/etcd_address.h"
#include "store/etcd/etcd_login.h"

using namespace starling;

namespace {

EtcdAddress address(const char* url, EtcdAccess access) {
  EtcdAddress parsed = EtcdAddress::parse(url).value();
  parsed.access = std::move(access);
  return parsed;
}

std::string refused(const EtcdAddress& where) {
  const Status fits = where.check_access();
  if (fits.ok()) return {};
  CHECK(fits.error().code == Errc::invalid);
  return fits.error().message;
}

}  // namespace

TEST_CASE("an address says whether it is with TLS") {
  CHECK(EtcdAddress::parse("etcds://a:1,b:2/x").value().tls);
  CHECK(EtcdAddress::parse("etcds://a:1,b:2/x").value().url() == "etcds://a:1,b:2/x");
  CHECK_FALSE(EtcdAddress::parse("etcd://a:1").value().tls);
  CHECK(EtcdAddress::is_one("etcds://"));
  CHECK_FALSE(EtcdAddress::parse("etcds://").ok());
}

TEST_CASE("what proves our user goes over TLS, in pairs, from files that fit") {
  const TestFolder folder("access");
  const std::string password = folder.path / "password";
  std::ofstream(password) << "\n";
  CHECK(refused(address("etcd://a:1", {})).empty());
  CHECK(refused(address("etcds://a:1", {})).empty());
  CHECK(refused(address("etcd://a:1", {.user = "u", .password = password})).find("etcds://") !=
        std::string::npos);
  CHECK(refused(address("etcds://a:1", {.certificate = "c"})).find("--etcd-key") !=
        std::string::npos);
  CHECK(refused(address("etcds://a:1", {.user = "u"})).find("--etcd-password-file") !=
        std::string::npos);
  CHECK(refused(address("etcds://a:1", {.ca = "nowhere"})).find("nowhere: cannot be read") !=
        std::string::npos);
  CHECK(refused(address("etcds://a:1", {.ca = password})).find("holds no certificates") !=
        std::string::npos);
  const EtcdAddress user = address("etcds://a:1", {.user = "u", .password = password});
  std::filesystem::permissions(password, std::filesystem::perms(0640));
  CHECK(refused(user).find("chmod 600") != std::string::npos);
  std::filesystem::permissions(password, std::filesystem::perms(0600));
  CHECK(refused(user).find("holds no password") != std::string::npos);
  std::ofstream(password) << "open sesame\r\n";
  CHECK(refused(user).empty());
  CHECK(read_password(user.access).value() == "open sesame");
}

TEST_CASE(
    "what etcd refuses is told with what its administrator can do, and without the password") {
  const auto said = [](int code, const char* message) { return EtcdRefusal{code, message}; };
  const EtcdLogin nobody(EtcdAddress::parse("etcds://a:1/blue").value());
  const EtcdLogin somebody(address("etcds://a:1/blue", {.user = "u", .password = "file"}));
  const EtcdRefusal denied = said(7, "etcdserver: permission denied");
  CHECK(denied.about_access());
  CHECK(nobody.explain(denied).find("--etcd-user") != std::string::npos);
  CHECK(somebody.explain(denied).find("'/starling/blue/'") != std::string::npos);
  CHECK(said(16, "etcdserver: invalid auth token").login_is_over());
  CHECK(said(2, "auth: revision in header is old").login_is_over());
  const EtcdRefusal failed =
      said(3, "etcdserver: authentication failed, invalid user ID or password");
  CHECK(failed.about_access());
  CHECK_FALSE(failed.login_is_over());
  CHECK(somebody.explain(failed) == "there is no user 'u', or its password is not that in file");
  CHECK_FALSE(said(8, "etcdserver: mvcc: database space exceeded").about_access());
  const EtcdRefusal no_json =
      EtcdRefusal::of({400, "Client sent an HTTP request to an HTTPS server."});
  CHECK(no_json.why.find("etcds://") != std::string::npos);
}
