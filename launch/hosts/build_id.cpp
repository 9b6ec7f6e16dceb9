// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/build_id.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "base/hash.h"

namespace starling {

BuildId own_build() {
  BuildId id;
  id.version = STARLING_VERSION;
  std::ifstream in("/proc/self/exe", std::ios::binary);
  TraceHash hash;
  std::array<char, 65536> block;
  while (in.read(block.data(), block.size()) || in.gcount() > 0)
    hash.add(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash.value()));
  id.build = text.data();
  return id;
}

Result<std::string> fits(const std::string& name, const BuildId& there, const BuildId& here) {
  if (there.version == here.version && there.protocol == here.protocol) return std::string();
  const auto say = [](const BuildId& b) {
    return "version " + b.version + ", protocol " + std::to_string(b.protocol);
  };
  const std::string both =
      name + ": the program there is " + say(there) + ", here it is " + say(here);
  const std::uint32_t spoken = std::min(there.protocol, here.protocol);
  if (spoken >= there.oldest && spoken >= here.oldest)
    return both + "; they speak protocol " + std::to_string(spoken) + " with one another";
  return {Errc::unsupported,
          both +
              ", and they speak none in common; install the same there, or leave "
              "'program' out of the hosts file so that this one is copied"};
}

}  // namespace starling
