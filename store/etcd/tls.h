// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace starling {

/// What a connection over TLS needs. Files in PEM.
struct TlsFiles {
  std::filesystem::path ca;  ///< what signs certificates of servers; empty: what the system trusts
  std::filesystem::path certificate, key;  ///< of this side; empty: it shows none
};

/// Reads the files. The server's certificate has to be signed by the CA; TLS 1.2 or later.
/// `invalid` names the file that is wrong; the key is a secret (base/secret_file.h).
[[nodiscard]] Result<std::unique_ptr<boost::asio::ssl::context>> tls_context(const TlsFiles& files);
/// The server's certificate has to be of `host`, a name or an address.
void expect_host(SSL* connection, const std::string& host);

/// Why a handshake or what came first after it failed, for people: what is wrong with whose
/// certificate, and what to look at.
[[nodiscard]] std::string tls_trouble(SSL* connection, const boost::system::error_code& error,
                                      const TlsFiles& files, const std::string& host);

}  // namespace starling
