// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/ipv4.h"

#include <arpa/inet.h>
#include <netdb.h>

namespace starling {

std::optional<std::string> ipv4_of(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0 || found == nullptr)
    return std::nullopt;
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr, text,
            sizeof text);
  freeaddrinfo(found);
  return std::string(text);
}

}  // namespace starling
