#include "launch/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/visible.h"

namespace starling {

void log_as(const std::string& name) {
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n %l: %v");
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

void log_info(const std::string& line) { spdlog::info("{}", visible_line(line)); }
void log_error(const std::string& line) { spdlog::error("{}", visible_line(line)); }

}  // namespace starling
