// SPDX-License-Identifier: Apache-2.0
#include "launch/system/text.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_whole("42") == 42U);
  for (const char* wrong : {"", "-1", "4 ", "4x", "0x4", "99999999999999999999999"})
    CHECK_FALSE(parse_whole(wrong));
  CHECK(parse_decimal("1.5e3") == 1500.0);
  for (const char* wrong : {"", "nan", "inf", "1,5", "1.5s"}) CHECK_FALSE(parse_decimal(wrong));
}

TEST_CASE("figures read well") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(64871) == "64,871");
  CHECK(human_seconds(0.0123) == "12.3 ms");
  CHECK(human_seconds(95) == "95.0 s");
  CHECK(human_seconds(7300) == "2.03 h");
  CHECK(human_seconds(-1) == "-");
  CHECK(human_micros(84.6) == "85 us");
  CHECK(percent(0.7134) == "71.3 %");
}

TEST_CASE("a slip of the finger is recognised, another word is not") {
  const std::vector<std::string> names{"submit", "sim", "topology", "cancel"};
  CHECK(nearest("sumbit", names) == "submit");
  CHECK(nearest("topolgy", names) == "topology");
  CHECK_FALSE(nearest("dashboard", names));
}

TEST_CASE("tables line up, numbers to the right") {
  CHECK(table_text({{"job", "GPUs"}, {"a", "8"}, {"long", "128"}}) ==
        "job   GPUs\n----------\na        8\nlong   128\n");
}

TEST_CASE("a line is broken at blanks") {
  CHECK(wrapped("", 10) == "");
  CHECK(wrapped("one two", 10) == "one two");
  CHECK(wrapped("one two six", 7) == "one two\n  six");
  CHECK(wrapped("one two six", 6) == "one\n  two\n  six");
  CHECK(wrapped("a considerable word", 5) == "a\n  considerable\n  word");
}

TEST_CASE("a table is narrowed to a width, what says nothing first") {
  const std::vector<std::vector<std::string>> all{{"agent", "free", "bad", "p99", "patience"},
                                                  {"a0", "3", "0", "1 ms", "4"},
                                                  {"a1", "2", "0", "-", "0"}};
  auto rows = all;
  CHECK(narrow_table(rows, 100, 2) == "");
  CHECK(rows == all);
  CHECK(narrow_table(rows, 28, 2) == "0 everywhere: bad");
  CHECK(rows[0] == std::vector<std::string>{"agent", "free", "p99", "patience"});
  CHECK(narrow_table(rows, 27, 2) == "");
  rows = all;
  CHECK(narrow_table(rows, 5, 2) == "0 everywhere: bad; no room for: p99, patience");
  CHECK(rows[1] == std::vector<std::string>{"a0", "3"});
}
