// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// A CURVE key pair in Z85, 40 characters each. What holds the secret half is that node.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
};

[[nodiscard]] Result<KeyPair> generate_keys();
/// Whether the text has the form of a key; says nothing about what holds it.
[[nodiscard]] bool is_key(const std::string& z85);

/// JSON, mode 0600. `conflict` if the file exists: a key is never replaced by accident.
[[nodiscard]] Status write_key_file(const std::filesystem::path& file, const KeyPair& keys);
/// Puts new keys in the place of others, as a whole.
[[nodiscard]] Status replace_key_file(const std::filesystem::path& file, const KeyPair& keys);
/// `invalid` if it is no file that secrets may be in (base/secret_file.h), or if the halves do not
/// belong together.
[[nodiscard]] Result<KeyPair> read_key_file(const std::filesystem::path& file);

}  // namespace starling
