// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/hosted_memory.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/test_folder.h"
#include "launch/system/files.h"

namespace starling {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST_CASE("what could not be read when a life began is not overwritten by it") {
  const Deployment here;
  const TestFolder folder("memory");
  const std::filesystem::path file = folder.path / "policy-0";
  std::filesystem::create_directory(file);  // cannot be read
  HostedMemory memory(here, {}, file, "");
  CHECK(memory.read().empty());
  memory.keep(bytes("a beginner's"));
  std::filesystem::remove(file);
  REQUIRE(write_text(file, "what years have taught", 0600).ok());
  memory.flush(true);
  CHECK(read_text(file).value() == "what years have taught");
}

TEST_CASE("where nothing was, or all could be read, the newest is kept") {
  const Deployment here;
  const TestFolder folder("memory");
  const std::filesystem::path file = folder.path / "policy-0";
  HostedMemory memory(here, {}, file, "");
  CHECK(memory.read().empty());
  memory.keep(bytes("one"));
  memory.keep(bytes("two"));
  HostedMemory next(here, {}, file, "");
  CHECK(next.read() == "two");
  next.drop("it is too large");
  next.drop("it is too large");
  HostedMemory third(here, {}, file, "");
  CHECK(third.read().empty());
}

}  // namespace
}  // namespace starling
