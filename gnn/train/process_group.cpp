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

}  // namespace

Result<Rendezvous> rendezvous_from_environment() {
  Rendezvous out;
  const char* const size = std::getenv("WORLD_SIZE");
  if (size == nullptr) return out;
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
  out.port = static_cast<std::uint16_t>(port.value());
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
