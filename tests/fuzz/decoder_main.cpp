// SPDX-License-Identifier: Apache-2.0
// fuzz_decoder: frames that are almost right through the decoder of the daemons, as many and as
// fast as one likes. To be built as users run it (preset release with -DSTARLING_TESTS=ON): it
// finds what crashes, breaks an invariant or does not say the same again; memory errors are for the
// preset fuzz.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "tests/fuzz/decoder_loop.h"

using namespace starling;
using namespace starling::fuzz;

namespace {

void died(int signal) {
  const DecoderPlace at = decoder_place();
  char text[128];
  const int n = std::snprintf(text, sizeof text, "signal %d at seed %llu, execution %llu\n", signal,
                              static_cast<unsigned long long>(at.seed),
                              static_cast<unsigned long long>(at.execution));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(n)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

DecoderReport run(std::uint64_t first, std::uint64_t seeds, unsigned threads,
                  const std::vector<FrameBytes>& corpus) {
  std::vector<DecoderReport> reports(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::uint64_t s = first + t; s < first + seeds && !reports[t].finding; s += threads)
        reports[t].add(fuzz_decoder(s, corpus));
    });
  }
  DecoderReport all;
  for (unsigned t = 0; t < threads; ++t) workers[t].join(), all.add(reports[t]);
  return all;
}

void print_table(const DecoderReport& report, std::FILE* to) {
  std::vector<std::pair<std::string, std::uint64_t>> rows(report.refused.begin(),
                                                          report.refused.end());
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (const auto& [reason, count] : rows)
    std::fprintf(to, "refused %llu %s\n", static_cast<unsigned long long>(count), reason.c_str());
  for (std::size_t kind = 0; kind < report.accepted_of.size(); ++kind)
    std::fprintf(to, "accepted %llu kind %zu\n",
                 static_cast<unsigned long long>(report.accepted_of[kind]), kind);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 1, seeds = 50, part = 500;
  unsigned threads = 1;
  std::string corpus_dir, table_file;
  CLI::App app("Frames that are almost right, through the decoder");
  app.add_option("--first-seed", first, "each seed is 20,000 executions");
  app.add_option("--seeds", seeds, "how many");
  app.add_option("--threads", threads, "at a time")->check(CLI::Range(1U, 256U));
  app.add_option("--part", part, "a line for every so many seeds")->check(CLI::PositiveNumber);
  app.add_option("--corpus", corpus_dir,
                 "a folder of frames to begin with: tests/fuzz/corpus/frame");
  app.add_option("--table", table_file, "counts by reason and kind, written after each part");
  CLI11_PARSE(app, argc, argv);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, died);

  const std::vector<FrameBytes> corpus = read_corpus(corpus_dir);
  if (!corpus_dir.empty() && corpus.empty()) {
    std::fprintf(stderr, "%s: no frames there; want a folder with one frame per file\n",
                 corpus_dir.c_str());
    return 2;
  }
  DecoderReport all;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; done < seeds && !all.finding;) {
    const std::uint64_t now = std::min(part, seeds - done);
    all.add(run(first + done, now, threads, corpus));
    done += now;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf(
        "seeds %llu to %llu: %llu executions, %llu accepted, %zu reasons to refuse, %.0f s\n",
        static_cast<unsigned long long>(first), static_cast<unsigned long long>(first + done - 1),
        static_cast<unsigned long long>(all.executions),
        static_cast<unsigned long long>(all.accepted), all.refused.size(), took.count());
    std::fflush(stdout);
    if (table_file.empty()) continue;
    if (std::FILE* to = std::fopen(table_file.c_str(), "w"); to != nullptr) {
      print_table(all, to);
      std::fclose(to);
    }
  }
  if (all.finding) std::printf("%s\n", all.finding->c_str());
  return all.finding ? 1 : 0;
}
