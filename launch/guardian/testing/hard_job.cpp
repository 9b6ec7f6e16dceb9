// SPDX-License-Identifier: Apache-2.0
// For tests: jobs that do not want to be found.
//   hard_job title FILE    in a session of its own, with another name and an emptied environment
//   hard_job chain FILE    forks and ends, again and again, each in a session of its own
//   hard_job deaf FILE     hears no SIGTERM
// Each writes its process number into FILE first, a chain each time.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

void note(const char* file) {
  if (std::FILE* const f = std::fopen(file, "w")) {
    std::fprintf(f, "%d\n", static_cast<int>(::getpid()));
    std::fclose(f);
  }
}

/// What setproctitle does: the kernel shows these bytes as command line and environment.
void take_title(char** argv) {
  char* end = argv[0];
  for (char** at = argv; *at != nullptr; ++at) end = *at + std::strlen(*at);
  for (char** at = environ; *at != nullptr; ++at) end = *at + std::strlen(*at);
  std::memset(argv[0], 0, static_cast<std::size_t>(end - argv[0]));
  std::strcpy(argv[0], "other");
  ::prctl(PR_SET_NAME, "other");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  char file[4096];
  std::snprintf(file, sizeof file, "%s", argv[2]);
  const char kind = argv[1][0];
  if (kind == 'd') {
    ::signal(SIGTERM, SIG_IGN);
    note(file);
    for (;;) ::pause();
  }
  if (::fork() != 0) {  // the job goes on meanwhile
    ::usleep(300'000);
    return 0;
  }
  ::setsid();
  if (kind == 't') {
    take_title(argv);
    note(file);
    for (;;) ::pause();
  }
  for (;;) {
    note(file);
    ::usleep(500);
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    ::setsid();
  }
}
