// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <fstream>
#include <sstream>

#include "base/secret_file.h"

namespace starling {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Result<std::string> read_public(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return {Errc::invalid, file.string() + ": cannot be read"};
  return text.str();
}

bool is_address(const std::string& host) {
  error_code no;
  asio::ip::make_address(host, no);
  return !no;
}

/// Whether a server has said, by an alert, that it does not take what this side has shown.
bool refused_by_server(const error_code& error) {
  if (error.category() != asio::error::get_ssl_category()) return false;
  const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

bool has_expired(SSL* connection) {
  const X509* mine = SSL_get_certificate(connection);
  return mine != nullptr && X509_cmp_current_time(X509_get0_notAfter(mine)) < 0;
}

}  // namespace

Result<std::unique_ptr<ssl::context>> tls_context(const TlsFiles& files) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
  error_code wrong;
  const auto refused = [&](const std::filesystem::path& file, const char* what) {
    return Error{Errc::invalid, file.string() + ": " + what + " in PEM (" + wrong.message() + ")"};
  };
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  context->set_verify_mode(ssl::verify_peer, wrong);
  if (files.ca.empty()) {
    context->set_default_verify_paths(wrong);
  } else {
    const auto text = read_public(files.ca);
    if (!text) return text.error();
    context->add_certificate_authority(asio::buffer(text.value()), wrong);
    if (wrong) return refused(files.ca, "holds no certificates");
  }
  if (files.certificate.empty()) return context;
  const auto chain = read_public(files.certificate);
  if (!chain) return chain.error();
  context->use_certificate_chain(asio::buffer(chain.value()), wrong);
  if (wrong) return refused(files.certificate, "is no certificate");
  const auto key = read_secret(files.key);
  if (!key) return key.error();
  // A key with a passphrase must not ask for it on a terminal.
  context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return ""; },
                                 wrong);
  context->use_private_key(asio::buffer(key.value()), ssl::context::pem, wrong);
  if (!wrong) return context;
  const std::string what = "is not the key of " + files.certificate.string() +
                           ", which is to be without a passphrase and";
  return refused(files.key, what.c_str());
}

void expect_host(SSL* connection, const std::string& host) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(connection);
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str());
    return;
  }
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size());
  SSL_set_tlsext_host_name(connection, host.c_str());
}

std::string tls_trouble(SSL* connection, const error_code& error, const TlsFiles& files,
                        const std::string& host) {
  const std::string ca = files.ca.empty() ? "the system's CAs" : files.ca.string();
  switch (const long verdict = SSL_get_verify_result(connection); verdict) {
    case X509_V_OK:
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate, or one that signed it, has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet (is this machine's clock right?)";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate is not of '" + host + "' (subjectAltName)";
    default:
      return std::string("its certificate is not signed by whom we trust, ") + ca + " (" +
             X509_verify_cert_error_string(verdict) + ")";
  }
  if (error.category() == asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_WRONG_VERSION_NUMBER)
    return "it does not speak TLS (etcds:// is for etcd with TLS, etcd:// for one without)";
  if (!refused_by_server(error)) return "no TLS connection: " + error.message();
  if (files.certificate.empty())
    return "it wants a client's certificate (--etcd-cert and --etcd-key)";
  const std::string mine = "it does not take our certificate " + files.certificate.string();
  if (has_expired(connection)) return mine + ", which has expired";
  return mine + " (" + error.message() + ")";
}

}  // namespace starling
