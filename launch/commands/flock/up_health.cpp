// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/up.h"
#include "launch/hardware/health_options.h"
#include "launch/system/files.h"

namespace starling {

Status check_health(const UpOptions& o) {
  if (o.health.empty()) return done();
  const auto text = read_text(o.health);
  if (!text) return {Errc::invalid, "up: --health: " + text.error().message};
  const auto options = parse_health_options(text.value(), o.health);
  return options ? done() : Status(options.error());
}

Status keep_health(const UpOptions& o, const std::filesystem::path& dir) {
  if (o.health.empty()) return done();
  const auto text = read_text(o.health);
  return text ? write_text(dir / kHealthFile, text.value()) : Status(text.error());
}

}  // namespace starling
