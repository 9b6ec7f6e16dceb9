#pragma once

namespace starling {

/// From now on SIGINT and SIGTERM ask this process to stop instead of ending it, and SIGPIPE is
/// ignored. A third request ends it at once. One that was held back until now comes now.
void catch_stop_signals();
/// Asks this process to stop, as they do.
void request_stop() noexcept;
/// True once one has come.
[[nodiscard]] bool stop_requested() noexcept;

}  // namespace starling
