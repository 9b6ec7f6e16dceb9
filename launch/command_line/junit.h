// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace starling {

/// One test, as CI systems know it.
struct JunitCase {
  std::string name;
  double seconds = 0;         ///< of the wall
  std::string rule, message;  ///< what failed; both empty: nothing did
  std::vector<std::pair<std::string, std::string>> properties = {};
};

/// The text of a file that those read which read JUnit's XML.
[[nodiscard]] std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace starling
