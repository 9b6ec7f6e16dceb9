// SPDX-License-Identifier: Apache-2.0
#include "launch/remote/remote.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "launch/deployment/local_flock.h"
#include "launch/processes/shell_word.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// What ssh exits with when it, and not the command, has failed.
constexpr int kSshFailed = 255;

}  // namespace

/// One `ssh -M -N` per host, each followed by a thread; all end when `over`.
struct Remote::Masters {
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::vector<std::thread> threads;
};

Remote::Remote(Way way) : way_(way), masters_(std::make_unique<Masters>()) {
  if (way_ != Way::ssh) return;
  if (auto dir = temporary_dir()) sockets_ = dir.value();
}

Remote::~Remote() {
  masters_->over = true;
  for (std::thread& thread : masters_->threads) thread.join();
  std::error_code ignored;
  if (!sockets_.empty()) std::filesystem::remove_all(sockets_, ignored);
}

std::string Remote::socket_of(const Host& host) const {
  // Short: the path of a socket has at most 107 characters.
  std::size_t hash = std::hash<std::string>{}(host.name);
  return (sockets_ / std::to_string(hash % 1'000'000'007)).string();
}

std::vector<std::string> Remote::argv(const Host& host, const std::string& command,
                                      bool shared) const {
  if (way_ == Way::slurm) {
    return {
        "srun",      "--overlap", "--quiet", "--nodes=1", "--ntasks=1", "--nodelist=" + host.name,
        "--chdir=/", "sh",        "-c",      command};
  }
  std::vector<std::string> words{"ssh"};
  const auto option = [&](const std::string& text) { words.insert(words.end(), {"-o", text}); };
  option("BatchMode=yes");
  option("ConnectTimeout=5");
  option("ServerAliveInterval=2");
  option("ServerAliveCountMax=3");
  option("LogLevel=ERROR");
  option("ControlMaster=no");
  option("ControlPath=" + (shared && !sockets_.empty() ? socket_of(host) : "none"));
  if (!host.known_hosts.empty()) option("UserKnownHostsFile=" + host.known_hosts);
  if (!host.identity.empty()) {
    option("IdentitiesOnly=yes");
    words.insert(words.end(), {"-i", host.identity});
  }
  if (host.port != 0) words.insert(words.end(), {"-p", std::to_string(host.port)});
  if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
  words.insert(words.end(), {host.ssh, "--", command});
  return words;
}

Status Remote::share(const Host& host) {
  if (way_ != Way::ssh || sockets_.empty()) return done();
  std::vector<std::string> master = argv(host, "");
  master.pop_back();  // no command
  master.pop_back();
  for (std::string& word : master) {
    if (word == "ControlMaster=no") word = "ControlMaster=yes";
  }
  master.insert(master.begin() + 1, "-N");
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto why = std::make_shared<Finished>();
  {
    const std::lock_guard lock(masters_->mutex);
    masters_->threads.emplace_back([this, master, ended, why] {
      *why = follow_program(
          master, [](const std::string&) {}, [this] { return !masters_->over; },
          std::chrono::milliseconds(0));
      *ended = true;
    });
  }
  for (;;) {
    std::error_code ignored;
    if (std::filesystem::exists(socket_of(host), ignored)) return done();
    if (*ended) return {Errc::io, complaint(host, way_, *why)};
    if (stop_requested()) return {Errc::io, "interrupted"};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Finished Remote::run(const Host& host, const std::string& command,
                     const ProgramOptions& options) const {
  return run_program(argv(host, command), options);
}

Result<std::string> Remote::ask(const Host& host, const std::string& command,
                                const ProgramOptions& options) const {
  Finished ran = run(host, command, options);
  if (ran.ok()) return std::move(ran.out);
  return {Errc::io, complaint(host, way_, ran)};
}

std::string complaint(const Host& host, Way way, const Finished& ran) {
  const std::string words = last_words(ran);
  if (ran.late && stop_requested()) return host.name + ": interrupted";
  if (ran.late) return host.name + ": no answer in time" + (words.empty() ? "" : ": " + words);
  const bool by_ssh = way == Way::ssh && ran.status == kSshFailed;
  const std::string how = by_ssh ? "ssh to " + host.ssh + ": " : "";
  return host.name + ": " + how +
         (words.empty() ? "ended with exit code " + std::to_string(ran.status) : words);
}

void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t kAtOnce = 16;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < std::min(count, kAtOnce); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace starling
