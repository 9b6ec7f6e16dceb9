// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/energy_book.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/text.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBook = "energy.csv";
constexpr std::uintmax_t kMostBytes = 16U << 20U;

void shorten(const fs::path& book) {
  const auto text = read_text(book);
  if (!text) return;
  const auto half = text.value().find('\n', text.value().size() / 2);
  if (half == std::string::npos) return;
  if (const Status written = write_text(book, text.value().substr(half + 1)); !written.ok())
    log_error(written.error().message);
}

}  // namespace

void note_energy(const fs::path& node_dir, const AttemptId& attempt, double joules) {
  const fs::path book = node_dir / kBook;
  std::error_code ignored;
  if (fs::exists(book, ignored) && fs::file_size(book, ignored) > kMostBytes) shorten(book);
  std::ofstream out(book, std::ios::app);
  out << fmt::format("{},{},{:.3f}\n", to_string(attempt.job), attempt.number, joules)
      << std::flush;
  if (!out) log_error("cannot write " + book.string());
}

std::map<JobId, double> energy_of_jobs(const fs::path& nodes) {
  std::map<JobId, double> all;
  std::error_code ignored;
  for (const fs::directory_entry& node : fs::directory_iterator(nodes, ignored)) {
    std::ifstream in(node.path() / kBook);
    for (std::string line; std::getline(in, line);) {
      const auto first = line.find(','), last = line.rfind(',');
      if (first == std::string::npos || first == last) continue;
      const auto job = parse_job_id(line.substr(0, first));
      const auto joules = parse_decimal(line.substr(last + 1));
      if (job && joules) all[job.value()] += *joules;
    }
  }
  return all;
}

}  // namespace starling
