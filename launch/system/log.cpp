// SPDX-License-Identifier: Apache-2.0
#include "launch/system/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

#include "base/visible.h"

namespace starling {

namespace {

std::once_flag begun;

void begin(const std::string& name) {
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n %l: %v");
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

/// The library's own logger writes to stdout, where commands have their results.
void begin_without_name() {
  std::call_once(begun, [] { begin("starling"); });
}

}  // namespace

void log_as(const std::string& name) {
  std::call_once(begun, [] {});
  begin(name);
}

void log_info(const std::string& line) {
  begin_without_name();
  spdlog::info("{}", visible_line(line));
}
void log_error(const std::string& line) {
  begin_without_name();
  spdlog::error("{}", visible_line(line));
}

}  // namespace starling
