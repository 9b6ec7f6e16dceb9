// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/process_group.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "gnn/train/scenario.h"

namespace starling {
namespace {

/// Rows one after the other: number of values, values; an error: ~0, its text.
void append(std::string& out, const void* data, std::size_t bytes) {
  out.append(static_cast<const char*>(data), bytes);
}
constexpr std::uint64_t kFailed = ~0ULL;

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}
  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  Result<Row> next() {
    std::uint64_t count = 0;
    if (!take(&count, sizeof count)) return cut();
    if (count == kFailed) return Error{Errc::invalid, text_.substr(at_)};
    if (count > (text_.size() - at_) / sizeof(double)) return cut();
    Row row(count);
    static_cast<void>(take(row.data(), count * sizeof(double)));
    return row;
  }

 private:
  static Error cut() { return {Errc::io, "train: another process sent half a message"}; }
  bool take(void* to, std::size_t bytes) {
    if (text_.size() - at_ < bytes) return false;
    if (bytes > 0) std::memcpy(to, text_.data() + at_, bytes);
    at_ += bytes;
    return true;
  }
  const std::string& text_;
  std::size_t at_ = 0;
};

Result<std::uint32_t> number(const char* name, const char* text, std::uint32_t most) {
  std::uint32_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  if (error != std::errc() || at != end || value > most) {
    return Error{Errc::invalid, std::string(name) + "=" + text + " is no number from 0 to " +
                                    std::to_string(most)};
  }
  return value;
}

/// The first host of "node7", "node[03-12,20],other" and the like; empty: there is none.
std::string first_host(const std::string& list) {
  const std::size_t end = list.find_first_of("[,");
  std::string host = list.substr(0, end);
  if (end == std::string::npos || list[end] == ',') return host;
  const std::size_t stop = list.find_first_of("-,]", end + 1);
  if (stop == std::string::npos) return {};
  host += list.substr(end + 1, stop - end - 1);
  const std::size_t close = list.find(']', stop);
  const std::size_t next = list.find_first_of("[,", close == std::string::npos ? stop : close);
  const std::size_t rest = next == std::string::npos ? list.size() : next;
  if (close == std::string::npos || (next != std::string::npos && list[next] == '[')) return {};
  return host + list.substr(close + 1, rest - close - 1);
}

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Of a task of srun.
Result<Rendezvous> rendezvous_of_step(const std::string& tasks) {
  Rendezvous out;
  const auto size = number("SLURM_STEP_NUM_TASKS", tasks.c_str(), 1024);
  if (!size) return size.error();
  if (size.value() <= 1) return out;
  const auto rank = number("SLURM_PROCID", variable("SLURM_PROCID").c_str(), size.value() - 1);
  if (!rank) return rank.error();
  out.size = size.value();
  out.rank = rank.value();
  out.host = variable("MASTER_ADDR");
  if (out.host.empty()) out.host = first_host(variable("SLURM_STEP_NODELIST"));
  if (out.host.empty())
    return Error{Errc::invalid, "SLURM_STEP_NODELIST=" + variable("SLURM_STEP_NODELIST") +
                                    " names no host that can be told; set MASTER_ADDR"};
  if (const std::string port = variable("MASTER_PORT"); !port.empty()) {
    const auto at = number("MASTER_PORT", port.c_str(), 65535);
    if (!at) return at.error();
    out.port = static_cast<std::uint16_t>(at.value());
    return out;
  }
  // Steps that run at a time on one host, of one job or several, have ports of their own.
  constexpr std::uint32_t kMost = 4'294'967'295U;
  const auto job = number("SLURM_JOB_ID", variable("SLURM_JOB_ID").c_str(), kMost);
  const auto step = number("SLURM_STEP_ID", variable("SLURM_STEP_ID").c_str(), kMost);
  if (!job || !step) return job ? step.error() : job.error();
  out.port = static_cast<std::uint16_t>(20'000 + (16ULL * job.value() + step.value()) % 12'000);
  return out;
}

}  // namespace

Result<Rendezvous> rendezvous_from_environment() {
  Rendezvous out;
  const char* const size = std::getenv("WORLD_SIZE");
  if (size == nullptr) {
    const std::string tasks = variable("SLURM_STEP_NUM_TASKS");
    return tasks.empty() ? out : rendezvous_of_step(tasks);
  }
  const auto read = [](const char* name, std::uint32_t most) -> Result<std::uint32_t> {
    const char* const text = std::getenv(name);
    if (text == nullptr)
      return Error{Errc::invalid, std::string("WORLD_SIZE is set, but ") + name + " is not"};
    return number(name, text, most);
  };
  const auto world = number("WORLD_SIZE", size, 1024);
  if (!world) return world.error();
  if (world.value() <= 1) return out;
  const auto rank = read("RANK", world.value() - 1);
  if (!rank) return rank.error();
  const auto port = read("MASTER_PORT", 65535);
  if (!port) return port.error();
  const char* const host = std::getenv("MASTER_ADDR");
  if (host == nullptr) return Error{Errc::invalid, "WORLD_SIZE is set, but MASTER_ADDR is not"};
  out.size = world.value();
  out.rank = rank.value();
  // There torchrun itself listens, with a store that this version of libtorch may not speak to.
  const bool taken = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  out.port = static_cast<std::uint16_t>(port.value() + (taken && port.value() < 65535 ? 1 : 0));
  out.host = host;
  return out;
}

Result<std::vector<Row>> for_all(ProcessGroup& processes, std::uint32_t threads, std::size_t count,
                                 const std::function<Result<Row>(std::size_t)>& work) {
  std::vector<std::optional<Result<Row>>> mine(count);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < count; ++i)
    if (processes.does(i)) which.push_back(i);
  for_each_on(threads, which.size(), [&](std::size_t k) { mine[which[k]] = work(which[k]); });
  std::string text;
  for (const std::size_t i : which) {
    const Result<Row>& row = *mine[i];
    const std::uint64_t size = row ? row.value().size() : kFailed;
    append(text, &size, sizeof size);
    if (!row) {
      text += row.error().message;
      break;
    }
    append(text, row.value().data(), size * sizeof(double));
  }
  const auto all = processes.all_gather(text);
  if (!all) return all.error();
  std::vector<Row> out(count);
  for (std::size_t rank = 0; rank < all.value().size(); ++rank) {
    Reader reader(all.value()[rank]);
    for (std::size_t i = rank; i < count; i += processes.size()) {
      auto row = reader.next();
      if (!row) return row.error();
      out[i] = std::move(row).value();
    }
  }
  return out;
}

}  // namespace starling
