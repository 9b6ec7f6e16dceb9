// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "launch/system/signals.h"

namespace starling {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kKept = 1U << 20U;
constexpr std::chrono::milliseconds kSlice{50};

/// A descriptor that is closed once.
struct Fd {
  int fd = -1;
  Fd() = default;
  explicit Fd(int f) : fd(f) {}
  Fd(Fd&& o) noexcept : fd(std::exchange(o.fd, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    std::swap(fd, o.fd);
    return *this;
  }
  ~Fd() { reset(); }
  void reset() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

struct Child {
  pid_t pid = -1;
  Fd in, out, err;
};

/// Between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* argv, int in, int out, int err, pid_t parent) {
  setpgid(0, 0);  // a terminal's Ctrl-C is ours to deal with
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  execvp(argv[0], argv);
  const char* why = std::strerror(errno);
  for (const char* text : {static_cast<const char*>(argv[0]), ": ", why, "\n"}) {
    const auto ignored = write(STDERR_FILENO, text, std::strlen(text));
    (void)ignored;
  }
  _exit(127);
}

/// Without `input` its standard input is a pipe that `Child::in` keeps open.
Child start(const std::vector<std::string>& argv, const std::filesystem::path* input) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  Child child;
  if (input != nullptr) {
    in[0] = open(input->c_str(), O_RDONLY | O_CLOEXEC);
  } else if (pipe2(in, O_CLOEXEC) != 0) {
    return child;
  }
  const Fd read_end(in[0]);
  child.in = Fd(in[1]);
  if (pipe2(out, O_CLOEXEC) != 0) return child;
  child.out = Fd(out[0]);
  const Fd out_end(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return child;
  child.err = Fd(err[0]);
  const Fd err_end(err[1]);
  if (read_end.fd < 0) return child;
  const pid_t parent = getpid();
  child.pid = fork();
  if (child.pid == 0) become(words.data(), read_end.fd, out_end.fd, err_end.fd, parent);
  return child;
}

/// False at its end.
bool take(Fd& from, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t n = read(from.fd, buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) {
    from.reset();
    return false;
  }
  if (into.size() < kKept) into.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

/// What there is to read within a slice.
void take_both(Child& child, Finished& so_far) {
  std::array<pollfd, 2> fds{pollfd{child.out.fd, POLLIN, 0}, pollfd{child.err.fd, POLLIN, 0}};
  if (poll(fds.data(), fds.size(), static_cast<int>(kSlice.count())) <= 0) return;
  if (fds[0].revents != 0) take(child.out, so_far.out);
  if (fds[1].revents != 0) take(child.err, so_far.err);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

/// Runs it until it ends, or `ask` gives the time by which it has to.
template <class Ask, class Each>
void see_through(Child& child, Finished& result, Ask ask, Each each) {
  std::optional<Clock::time_point> until;
  for (;;) {
    if (child.out.fd >= 0 || child.err.fd >= 0) {
      take_both(child, result);
      each();
    }
    int status = 0;
    if (waitpid(child.pid, &status, WNOHANG) == child.pid) {
      // What is left in the pipes; a child of its own may hold them open, so this does not wait.
      for (Fd* fd : {&child.out, &child.err}) {
        if (fd->fd >= 0) fcntl(fd->fd, F_SETFL, O_NONBLOCK);
        while (fd->fd >= 0 && take(*fd, fd == &child.out ? result.out : result.err)) {
        }
      }
      each();
      result.status = code_of(status);
      return;
    }
    if (child.out.fd < 0 && child.err.fd < 0) usleep(5000);
    if (!until) until = ask();
    if (until && Clock::now() >= *until) {
      result.late = true;
      kill(-child.pid, SIGKILL);
      waitpid(child.pid, &status, 0);
      result.status = code_of(status);
      return;
    }
  }
}

Finished not_started() {
  return {127, "", std::string("no process: ") + std::strerror(errno), false};
}

}  // namespace

Finished run_program(const std::vector<std::string>& argv, const ProgramOptions& options) {
  Child child = start(argv, &options.input);
  if (child.pid < 0) return not_started();
  Finished result;
  const auto until = Clock::now() + options.timeout;
  see_through(
      child, result,
      [&]() -> std::optional<Clock::time_point> {
        if (options.stop_ends_it && stop_requested()) return Clock::now();
        return Clock::now() >= until ? std::optional(until) : std::nullopt;
      },
      [] {});
  return result;
}

Finished follow_program(const std::vector<std::string>& argv,
                        const std::function<void(const std::string&)>& on_line,
                        const std::function<bool()>& go_on, std::chrono::milliseconds grace) {
  Child child = start(argv, nullptr);
  if (child.pid < 0) return not_started();
  Finished result;
  see_through(
      child, result,
      [&]() -> std::optional<Clock::time_point> {
        if (go_on()) return std::nullopt;
        child.in.reset();
        return Clock::now() + grace;
      },
      [&] {
        std::size_t end = 0;
        while ((end = result.out.find('\n')) != std::string::npos) {
          const std::string line = result.out.substr(0, end);
          result.out.erase(0, end + 1);
          on_line(line);
        }
      });
  result.out.clear();
  return result;
}

std::string last_words(const Finished& program) {
  std::string last;
  std::size_t from = 0;
  while (from < program.err.size()) {
    std::size_t end = program.err.find('\n', from);
    if (end == std::string::npos) end = program.err.size();
    std::string line = program.err.substr(from, end - from);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) last = line;
    from = end + 1;
  }
  return last;
}

}  // namespace starling
