// SPDX-License-Identifier: Apache-2.0
#include "store/record_codec.h"

#include <bit>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "store/record_fields.h"

namespace starling {
namespace {

constexpr std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1U) ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1U) ^ -static_cast<std::int64_t>(v & 1U);
}

class Writer {
 public:
  static constexpr bool reads = false;
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  template <class T>
  void operator()(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      varint(v ? 1 : 0);
    } else if constexpr (std::is_enum_v<T>) {
      varint(static_cast<std::uint64_t>(v));
    } else if constexpr (std::is_same_v<T, double>) {
      varint(std::bit_cast<std::uint64_t>(v));
    } else if constexpr (std::is_same_v<T, Duration>) {
      varint(zigzag(v.count()));
    } else if constexpr (std::is_signed_v<T>) {
      varint(zigzag(v));
    } else if constexpr (std::is_unsigned_v<T>) {
      varint(v);
    } else {
      fields(*this, v);
    }
  }
  template <class Tag, class Rep>
  void operator()(Id<Tag, Rep>& v) {
    varint(v.value);
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    varint(v.size());
    for (T& item : v) (*this)(item);
  }
  void operator()(std::string& v) {
    varint(v.size());
    for (const char c : v) out_.push_back(static_cast<std::byte>(c));
  }

  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7U) out_.push_back(static_cast<std::byte>(v | 0x80));
    out_.push_back(static_cast<std::byte>(v));
  }

 private:
  std::vector<std::byte>& out_;
};

/// After the first mistake every read gives zero, so that a reader needs one check, at the end.
class Reader {
 public:
  static constexpr bool reads = true;
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  template <class T>
  void operator()(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      v = below(2) != 0;
    } else if constexpr (std::is_same_v<T, JobPhase>) {
      v = static_cast<JobPhase>(below(static_cast<std::uint64_t>(JobPhase::moved) + 1));
    } else if constexpr (std::is_same_v<T, AfterDrain>) {
      v = static_cast<AfterDrain>(below(static_cast<std::uint64_t>(AfterDrain::requeue) + 1));
    } else if constexpr (std::is_same_v<T, After::How>) {
      v = static_cast<After::How>(below(static_cast<std::uint64_t>(After::How::not_ok) + 1));
    } else if constexpr (std::is_same_v<T, JobReason>) {
      v = static_cast<JobReason>(below(static_cast<std::uint64_t>(JobReason::quota) + 1));
    } else if constexpr (std::is_same_v<T, double>) {
      v = std::bit_cast<double>(varint());
    } else if constexpr (std::is_same_v<T, Duration>) {
      v = Duration(unzigzag(varint()));
    } else if constexpr (std::is_signed_v<T>) {
      const std::int64_t wide = unzigzag(varint());
      if (!std::in_range<T>(wide)) return fail("a number is out of range");
      v = static_cast<T>(wide);
    } else if constexpr (std::is_unsigned_v<T>) {
      v = number<T>();
    } else {
      fields(*this, v);
    }
  }
  template <class Tag, class Rep>
  void operator()(Id<Tag, Rep>& v) {
    v.value = number<Rep>();
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    const std::uint64_t size = count();
    v.clear();
    for (std::uint64_t i = 0; i < size && wrong_ == nullptr; ++i) (*this)(v.emplace_back());
  }
  void operator()(std::string& v) {
    const std::uint64_t size = count();
    v.assign(reinterpret_cast<const char*>(in_.data()), size);
    in_ = in_.subspan(size);
  }

  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (in_.empty()) return fail("it ends too early"), 0;
      const auto byte = static_cast<std::uint64_t>(in_.front());
      in_ = in_.subspan(1);
      if (shift == 63 && byte > 1) break;
      v |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return v;
    }
    return fail("a number is too long"), 0;
  }
  std::uint64_t below(std::uint64_t end) {
    const std::uint64_t v = varint();
    if (v < end) return v;
    return fail("a value is none of those that exist"), 0;
  }
  void fail(const char* why) {
    if (wrong_ == nullptr) wrong_ = why;
    in_ = {};
  }
  [[nodiscard]] bool more() const { return !in_.empty(); }
  [[nodiscard]] const char* finish() {
    if (!in_.empty()) fail("it is longer than its fields");
    return wrong_;
  }

 private:
  template <class T>
  T number() {
    const std::uint64_t wide = varint();
    if (wide <= std::numeric_limits<T>::max()) return static_cast<T>(wide);
    return fail("a number is out of range"), T{0};
  }
  /// An element takes a byte at least, so a count above the rest is wrong before anything is
  /// allocated.
  std::uint64_t count() {
    const std::uint64_t size = varint();
    if (size <= in_.size()) return size;
    return fail("a count exceeds its bytes"), 0;
  }

  std::span<const std::byte> in_;
  const char* wrong_ = nullptr;
};

/// Reads the alternative of that index into `record`. False: there is none.
template <std::size_t I = 0>
bool read_kind(std::uint64_t kind, Reader& reader, Record& record) {
  if constexpr (I < std::variant_size_v<RecordKinds>) {
    if (kind != I) return read_kind<I + 1>(kind, reader, record);
    auto& read = record.emplace<I>();
    fields(reader, read);
    if (reader.more()) {
      more_fields(reader, read);
      if (!has_more(read)) reader.fail("its later fields say nothing");
    }
    return true;
  }
  return false;
}

}  // namespace

void encode_record(const Record& record, std::vector<std::byte>& out) {
  Writer writer(out);
  writer.varint(record.index());
  // The field lists serve readers too and so take a mutable struct; a Writer only reads it.
  std::visit(
      [&](auto& kind) {
        fields(writer, kind);
        if (has_more(kind)) more_fields(writer, kind);
      },
      const_cast<Record&>(record));
}

Result<Record> decode_record(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Record record;
  if (!read_kind(reader.varint(), reader, record)) reader.fail("its kind is unknown");
  if (const char* wrong = reader.finish()) {
    return {Errc::invalid, std::string("not a record: ") + wrong};
  }
  return record;
}

}  // namespace starling
