// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"

namespace starling {

struct TlsFiles;

/// One HTTP/1.1 server, asked over one connection that is kept open and opened again as needed, in
/// plain or over TLS. One thread.
class HttpConnection {
 public:
  struct Answer {
    int status = 0;
    std::string body;
  };

  /// With `tls` its files are read at each new connection, so new ones need no new object.
  HttpConnection(std::string host, std::string port, const TlsFiles* tls = nullptr);
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;

  /// Posts JSON and waits at most `patience` for the whole answer (looking up a host name not
  /// counted). `token` goes into the header Authorization, unless it is empty. On an error (`io`,
  /// with the cause) the server may or may not have acted; the same request may have reached it
  /// twice.
  Result<Answer> post(const std::string& path, const std::string& body,
                      std::chrono::milliseconds patience, const std::string& token = "");
  [[nodiscard]] const std::string& name() const noexcept;  ///< host:port, for messages

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace starling
