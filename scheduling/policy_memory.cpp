// SPDX-License-Identifier: Apache-2.0
#include "scheduling/policy_memory.h"

#include <string>

#include "base/hash.h"
#include "scheduling/memory_bytes.h"

namespace starling {
namespace {

constexpr std::uint64_t kMagic = 0x314D454D50545321;  // "!STPMEM1"

std::uint64_t check_of(std::span<const std::byte> bytes) {
  TraceHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace

Result<std::vector<std::byte>> packed_memory(const Policy& policy, std::string_view made_of,
                                             Instant origin) {
  const std::vector<std::byte> learned = policy.save(origin);
  if (learned.empty()) return std::vector<std::byte>{};
  if (learned.size() > kMostPolicyMemory)
    return {Errc::busy, "it is " + std::to_string(learned.size()) + " bytes, more than " +
                            std::to_string(kMostPolicyMemory)};
  MemoryWriter out;
  out.word(kMagic);
  out.text(made_of.substr(0, kMostMadeOf));
  out.word(policy.memory_version());
  out.text({reinterpret_cast<const char*>(learned.data()), learned.size()});
  out.word(check_of(out.bytes()));
  return out.take();
}

Status unpack_memory(std::span<const std::byte> memory, Policy& policy, std::string_view made_of,
                     Instant origin) {
  if (memory.empty()) return done();
  const auto refused = [](const std::string& why) {
    return Error{Errc::invalid, "what the policy had learned is left behind: " + why};
  };
  constexpr std::size_t kCheck = 8;
  MemoryReader in(memory);
  if (in.word() != kMagic) return refused("these bytes are no policy's memory");
  MemoryReader last(memory.size() < kCheck ? memory : memory.last(kCheck));
  if (last.word() != check_of(memory.first(memory.size() - kCheck)))
    return refused("it is cut or altered");
  const std::string name = in.text(kMostMadeOf);
  const std::string mine(made_of.substr(0, kMostMadeOf));
  if (name != mine) return refused("it is that of " + name + ", not of " + mine);
  const std::uint64_t version = in.word();
  if (version != policy.memory_version())
    return refused("it is of version " + std::to_string(version) + ", not of " +
                   std::to_string(policy.memory_version()));
  const std::string learned = in.text(kMostPolicyMemory);
  if (!in.ok() || in.rest().size() != kCheck) return refused("it is cut or altered");
  const Status taken = policy.restore(std::as_bytes(std::span(learned)), origin);
  return taken.ok() ? taken : refused(taken.error().message);
}

}  // namespace starling
