// SPDX-License-Identifier: Apache-2.0
#include "nets/weights.h"

#include <bit>
#include <cmath>

#include "base/hash.h"

namespace starling {
namespace {

constexpr std::string_view kMagic = "STRLNETS";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 32;

class Writer {
 public:
  template <class T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void raw(std::string_view text) {
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  }
  void text(std::string_view t) {
    number(static_cast<std::uint32_t>(t.size()));
    raw(t);
  }
  std::vector<std::byte> bytes;
};

/// Reads in order; after the first thing that is missing everything is 0 and `error` says what it
/// was.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number(const char* what) {
    if (!have(sizeof(T), what)) return 0;
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<T>(static_cast<T>(bytes_[at_ + i]) << (8 * i));
    }
    at_ += sizeof(T);
    return value;
  }
  std::uint32_t count(const char* what, std::uint32_t most) {
    const auto n = number<std::uint32_t>(what);
    if (n <= most) return n;
    fail(std::string(what) + " is " + std::to_string(n) + ", more than " + std::to_string(most));
    return 0;
  }
  std::string text(const char* what, std::uint32_t most) {
    const std::uint32_t size = count(what, most);
    if (!have(size, what)) return "";
    std::string out(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return out;
  }
  bool have(std::size_t size, const char* what) {
    if (failed()) return false;
    if (bytes_.size() - at_ >= size) return true;
    fail(std::string("ends within ") + what);
    return false;
  }
  void fail(const std::string& message) {
    if (!failed()) error = "byte " + std::to_string(at_) + ": " + message;
  }
  [[nodiscard]] bool failed() const { return !error.empty(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  std::string error;

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Result<std::vector<std::byte>> body_bytes(const Weights& weights) {
  const auto invalid = [](const std::string& message) { return Error{Errc::invalid, message}; };
  if (weights.tensors.size() > WeightsLimits::tensors) return invalid("too many tensors");
  if (weights.notes.size() > WeightsLimits::notes) return invalid("too many notes");
  Writer out;
  out.number(static_cast<std::uint32_t>(weights.notes.size()));
  for (const auto& [key, text] : weights.notes) {
    if (key.size() > WeightsLimits::name_bytes || text.size() > WeightsLimits::note_bytes) {
      return invalid("note '" + key.substr(0, 64) + "' is too long");
    }
    out.text(key);
    out.text(text);
  }
  out.number(static_cast<std::uint32_t>(weights.tensors.size()));
  for (const auto& [name, tensor] : weights.tensors) {
    if (name.size() > WeightsLimits::name_bytes) return invalid("the name of a tensor is too long");
    const auto count = Tensor::element_count(tensor.shape);
    if (!count) return invalid("tensor " + name + ": " + count.error().message);
    if (count.value() != tensor.values.size()) {
      return invalid("tensor " + name + " has " + std::to_string(tensor.values.size()) +
                     " values; its shape says " + std::to_string(count.value()));
    }
    out.text(name);
    out.number(static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::uint32_t dimension : tensor.shape) out.number(dimension);
    for (const float value : tensor.values) {
      if (!std::isfinite(value))
        return invalid("tensor " + name + " holds a value that is not finite");
      out.number(std::bit_cast<std::uint32_t>(value));
    }
  }
  if (out.bytes.size() > WeightsLimits::file_bytes) return invalid("more than 256 MiB");
  return std::move(out.bytes);
}

std::uint64_t hash_of(std::span<const std::byte> body) {
  TraceHash hash;
  hash.add(body);
  return hash.value();
}

void read_tensor(Reader& in, Weights& out, std::string& last) {
  const std::string name = in.text("a tensor's name", WeightsLimits::name_bytes);
  if (!in.failed() && !out.tensors.empty() && name <= last) in.fail("tensor names do not ascend");
  last = name;
  Tensor tensor;
  const std::uint32_t rank = in.count("a tensor's rank", WeightsLimits::rank);
  for (std::uint32_t i = 0; i < rank; ++i)
    tensor.shape.push_back(in.number<std::uint32_t>("a shape"));
  if (in.failed()) return;
  const auto count = Tensor::element_count(tensor.shape);
  if (!count) return in.fail("tensor " + name + ": " + count.error().message);
  if (!in.have(count.value() * sizeof(float), "a tensor's values")) return;
  tensor.values.reserve(count.value());
  for (std::size_t i = 0; i < count.value(); ++i) {
    const auto value = std::bit_cast<float>(in.number<std::uint32_t>("a value"));
    if (!std::isfinite(value))
      return in.fail("tensor " + name + " holds a value that is not finite");
    tensor.values.push_back(value);
  }
  out.tensors.emplace(name, std::move(tensor));
}

}  // namespace

Result<std::size_t> Tensor::element_count(std::span<const std::uint32_t> shape) {
  if (shape.size() > WeightsLimits::rank) return Error{Errc::invalid, "more than 4 dimensions"};
  std::size_t count = 1;
  for (const std::uint32_t dimension : shape) {
    if (dimension == 0) return Error{Errc::invalid, "a dimension is 0"};
    count *= dimension;
    if (count > WeightsLimits::file_bytes / sizeof(float))
      return Error{Errc::invalid, "larger than 256 MiB"};
  }
  return count;
}

std::uint64_t Weights::hash() const {
  const auto body = body_bytes(*this);
  return body ? hash_of(body.value()) : 0;
}

Result<const Tensor*> Weights::tensor(const std::string& name,
                                      std::span<const std::uint32_t> shape) const {
  const auto text = [](std::span<const std::uint32_t> dimensions) {
    std::string out = "[";
    for (const std::uint32_t d : dimensions)
      out += (out.size() > 1 ? ", " : "") + (d == 0 ? "any" : std::to_string(d));
    return out + "]";
  };
  const auto found = tensors.find(name);
  if (found == tensors.end()) return Error{Errc::not_found, "there is no tensor " + name};
  const std::vector<std::uint32_t>& has = found->second.shape;
  bool same = has.size() == shape.size();
  for (std::size_t i = 0; same && i < has.size(); ++i) same = shape[i] == 0 || shape[i] == has[i];
  if (!same)
    return Error{Errc::invalid,
                 "tensor " + name + " is " + text(has) + "; it should be " + text(shape)};
  return &found->second;
}

std::string Weights::note(const std::string& key, const std::string& otherwise) const {
  const auto found = notes.find(key);
  return found == notes.end() ? otherwise : found->second;
}

Result<std::vector<std::byte>> weights_bytes(const Weights& weights) {
  const auto body = body_bytes(weights);
  if (!body) return body.error();
  Writer out;
  out.bytes.reserve(kHeaderBytes + body.value().size());
  out.raw(kMagic);
  out.number(kVersion);
  out.number(std::uint32_t{0});
  out.number(std::uint64_t{body.value().size()});
  out.number(hash_of(body.value()));
  out.bytes.insert(out.bytes.end(), body.value().begin(), body.value().end());
  return std::move(out.bytes);
}

Result<Weights> parse_weights(std::span<const std::byte> bytes) {
  const auto invalid = [](const std::string& message) { return Error{Errc::invalid, message}; };
  if (bytes.size() > WeightsLimits::file_bytes + kHeaderBytes) return invalid("more than 256 MiB");
  if (bytes.size() < kHeaderBytes)
    return invalid("no weights file: shorter than its header of 32 bytes");
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
  if (start != kMagic) return invalid("no weights file: it does not begin with STRLNETS");
  Reader header(bytes.subspan(kMagic.size(), kHeaderBytes - kMagic.size()));
  const auto version = header.number<std::uint32_t>("the version");
  const auto zero = header.number<std::uint32_t>("the header");
  const auto size = header.number<std::uint64_t>("the size");
  const auto hash = header.number<std::uint64_t>("the hash");
  if (version != kVersion || zero != 0) {
    return invalid("version " + std::to_string(version) +
                   " of the format; this program reads version 1");
  }
  const auto body = bytes.subspan(kHeaderBytes);
  if (size != body.size()) {
    return invalid("the body has " + std::to_string(body.size()) + " bytes; the header says " +
                   std::to_string(size));
  }
  if (hash != hash_of(body)) return invalid("the hash does not match: the file is damaged");

  Weights out;
  Reader in(body);
  const std::uint32_t notes = in.count("the number of notes", WeightsLimits::notes);
  std::string last;
  for (std::uint32_t i = 0; i < notes && !in.failed(); ++i) {
    const std::string key = in.text("a note's name", WeightsLimits::name_bytes);
    if (i > 0 && key <= last) in.fail("note names do not ascend");
    last = key;
    out.notes.emplace(key, in.text("a note", WeightsLimits::note_bytes));
  }
  const std::uint32_t tensors = in.count("the number of tensors", WeightsLimits::tensors);
  for (std::uint32_t i = 0; i < tensors && !in.failed(); ++i) read_tensor(in, out, last);
  if (!in.failed() && in.left() > 0) in.fail("there is more than the tensors");
  if (in.failed()) return invalid("body, " + in.error);
  return out;
}

}  // namespace starling
