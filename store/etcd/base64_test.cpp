// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/base64.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("base64: the vectors of RFC 4648 both ways, all bytes, and what is refused") {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == std::string(bytes));
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(from_base64(to_base64(all)) == all);
  for (const char* wrong :
       {"Z", "Zg", "Zg=", "Zg=a", "Z===", "====", "Zh==", "Zm9=", "Zm9v!mFy", "Zg==Zg=="})
    CHECK_MESSAGE(!from_base64(wrong), wrong);
}
