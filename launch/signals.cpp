#include "launch/signals.h"

#include <unistd.h>

#include <csignal>

namespace starling {
namespace {

volatile std::sig_atomic_t requests = 0;

void on_stop(int) {
  requests = requests + 1;
  if (requests >= 3) _exit(130);
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_stop;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART, so that waits end early
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() noexcept { return requests > 0; }

}  // namespace starling
