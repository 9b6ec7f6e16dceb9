// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex.h>

#include <string>

namespace starling {

/// What Starling makes in a flock's directory, as POSIX extended regular expressions of whole paths
/// relative to it, so that C++ and a shell on another host (grep -E) go by the same list.
struct FlockPaths {
  std::string files;    ///< also FIFOs, and what of them is just being written
  std::string folders;  ///< whatever else is in them is not Starling's
  std::string moved;    ///< of these a user may have put a link in the place
};
/// `node`: the expression of a name of the flock's nodes.
[[nodiscard]] FlockPaths flock_paths(const std::string& node);

/// Whether `name`, directly in a flock's directory, is one that Starling makes.
[[nodiscard]] bool is_flock_name(const std::string& name);

/// A POSIX extended regular expression that whole paths match, or not.
class PathPattern {
 public:
  explicit PathPattern(const std::string& expression);
  ~PathPattern() { ::regfree(&compiled_); }
  PathPattern(const PathPattern&) = delete;
  PathPattern& operator=(const PathPattern&) = delete;
  [[nodiscard]] bool matches(const std::string& path) const;

 private:
  regex_t compiled_{};
};

}  // namespace starling
