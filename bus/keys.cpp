// SPDX-License-Identifier: Apache-2.0
#include "bus/keys.h"

#include <fcntl.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/secret_file.h"

namespace starling {
namespace {

constexpr std::size_t kZ85 = 40;
using Buffer = std::array<char, kZ85 + 1>;

Error system_error(const std::filesystem::path& file, const char* what) {
  return {Errc::io, file.string() + ": " + what + ": " + std::strerror(errno)};
}

}  // namespace

Result<KeyPair> generate_keys() {
  Buffer pub{}, secret{};
  if (zmq_curve_keypair(pub.data(), secret.data()) != 0) {
    return {Errc::unsupported, "keys: libzmq was built without CURVE; install one that has it"};
  }
  return KeyPair{pub.data(), secret.data()};
}

bool is_key(const std::string& z85) {
  std::array<std::uint8_t, 32> raw{};
  return z85.size() == kZ85 && zmq_z85_decode(raw.data(), z85.c_str()) != nullptr;
}

Status write_key_file(const std::filesystem::path& file, const KeyPair& keys) {
  const nlohmann::json json{{"public", keys.public_key}, {"secret", keys.secret_key}};
  const std::string text = json.dump(2) + "\n";
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) {
    return {Errc::conflict,
            file.string() + ": exists; remove it first if the key is to be replaced"};
  }
  if (fd < 0) return system_error(file, "cannot be created");
  const auto written = ::write(fd, text.data(), text.size());
  const bool good = written == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  Status status = good ? done() : Status(system_error(file, "cannot be written"));
  ::close(fd);
  return status;
}

Status replace_key_file(const std::filesystem::path& file, const KeyPair& keys) {
  const std::filesystem::path fresh = file.string() + ".new";
  std::error_code error;
  std::filesystem::remove(fresh, error);  // of a try that was broken off
  if (Status s = write_key_file(fresh, keys); !s.ok()) return s;
  std::filesystem::rename(fresh, file, error);
  if (error) return {Errc::io, file.string() + ": " + error.message()};
  return done();
}

Result<KeyPair> read_key_file(const std::filesystem::path& file) {
  const auto text = read_secret(file);
  if (!text) return text.error();
  const nlohmann::json json = nlohmann::json::parse(text.value(), nullptr, false);
  const auto field = [&](const char* name) -> std::string {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) return {};
    return json[name].get<std::string>();
  };
  KeyPair keys{field("public"), field("secret")};
  if (!is_key(keys.public_key) || !is_key(keys.secret_key)) {
    return {
        Errc::invalid,
        file.string() +
            R"(: not a key file; expected {"public": ..., "secret": ...} of 40 characters each)"};
  }
  Buffer derived{};
  zmq_curve_public(derived.data(), keys.secret_key.c_str());
  if (keys.public_key != derived.data()) {
    return {
        Errc::invalid,
        file.string() + ": the public key is not the secret key's; it should be " + derived.data()};
  }
  return keys;
}

}  // namespace starling
