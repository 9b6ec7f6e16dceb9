// SPDX-License-Identifier: Apache-2.0
#include "base/visible.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace starling;

TEST_CASE("what could fool a terminal reads '?', all else stays as it is") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", ""},
      {"plain ~ text", "plain ~ text"},
      {"zwölf größere Ωμέγα 日本語 🐦", "zwölf größere Ωμέγα 日本語 🐦"},
      {"two\nlines\tand a tab", "two\nlines\tand a tab"},
      {"\x1b[2J", "?[2J"},                        // C0
      {std::string("a\0b\rc\x7f", 6), "a?b?c?"},  // NUL, carriage return, DEL
                                                  // clang-format off
      {"\xc2\x9b" "2J\xc2\x85" "x\xc2\x80", "?2J?x?"},   // C1: CSI, NEL
      {"\x9b" "2J", "?2J"},                            // C1 as one byte, as some terminals take it
      {"abc\xe2\x80\xae" "txt.exe", "abc?txt.exe"},    // U+202E
      {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "????"},
      {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????"},  // U+2066..9
      {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"},                    // U+200E, U+200F, U+061C
      {"\xe2\x80\xa8\xe2\x80\xa9", "??"},                             // U+2028, U+2029
      {"\xef\xbb\xbf" "x\xe2\x80\x8by", "?x?y"},                        // U+FEFF, U+200B
      {"\xf3\xa0\x81\x81", "?"},                                      // a tag, U+E0041
      {"\xff\xc3", "??"},                                             // no UTF-8
      {"\xc0\xaf\xe0\x80\xaf", "?????"},                              // overlong
      {"\xed\xa0\x80\xf4\x90\x80\x80", "???????"},                    // beyond
                                                  // clang-format on
  };
  for (const auto& [text, expected] : table) {
    CHECK(visible(text) == expected);
    CHECK(visible(visible(text)) == visible(text));
  }
}

TEST_CASE("one line stays one line") {
  CHECK(visible_line("two\nlines\tand a tab\x1b") == "two lines and a tab?");
  CHECK(is_visible_line("größere 日本語"));
  CHECK_FALSE(is_visible_line("a\nb"));
  CHECK_FALSE(is_visible_line("a\xc2\x85"));
  CHECK_FALSE(is_visible_line("a\xe2\x80\xae"));
}
