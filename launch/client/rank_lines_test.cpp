// SPDX-License-Identifier: Apache-2.0
#include "launch/client/rank_lines.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace starling;

TEST_CASE("lines of a gang say whose they are, and one worker's are found among them") {
  RankLines alone(1, 0, 1, {});
  CHECK(alone.take("as it ") == "as it ");
  CHECK(alone.rest().empty());
  RankLines one_here(2, 1, 1, {});
  CHECK(one_here.take("a\nb").append("|") == "[1] a\n|");
  CHECK(one_here.take("c\n") == "[1] bc\n");
  CHECK(one_here.take("end").empty());
  CHECK(one_here.rest() == "[1] end");
  RankLines several(4, 0, 2, {});
  CHECK(several.take("[0] x\n[1] y\n") == "[0] x\n[1] y\n");
  RankLines second(4, 0, 2, 1U);
  CHECK(second.take("[0] x\n[1] y\n[0] [1] z\n") == "y\n");
  RankLines far(4, 2, 1, 2U);
  CHECK(far.take("as it is") == "as it is");
}

TEST_CASE("lines one by one: without marks, with ranks, none longer than is bearable") {
  RankLines pair(4, 2, 2, {});
  auto lines = pair.lines("[2] a\n[3] [2] b\nnobody's\n[7] far\n[3] begun");
  REQUIRE(lines.size() == 4);
  CHECK((lines[0].rank == 2U && lines[0].text == "a" && !lines[0].cut));
  CHECK((lines[1].rank == 3U && lines[1].text == "[2] b"));
  CHECK((!lines[2].rank && lines[2].text == "nobody's"));
  CHECK((!lines[3].rank && lines[3].text == "[7] far"));
  lines = pair.rest_of_lines();
  REQUIRE(lines.size() == 1);
  CHECK((lines[0].rank == 3U && lines[0].text == "begun" && lines[0].cut));
  CHECK(pair.rest_of_lines().empty());

  RankLines second(4, 2, 2, 3U);
  CHECK(second.lines("[2] a\nx\n").empty());
  // Whose line it is is said once, at its beginning; a character is not cut in two.
  const std::string wide(RankLines::kLineMost - 1, 'w');
  lines = second.lines("[3] " + wide.substr(4) + "\u00e4\u00e4end\n[3] next\n");
  REQUIRE(lines.size() == 3);
  CHECK((lines[0].cut && lines[0].text == wide.substr(4)));
  CHECK((lines[1].rank == 3U && lines[1].text == "\u00e4\u00e4end" && !lines[1].cut));
  CHECK(lines[2].text == "next");

  RankLines alone(1, 0, 1, {});
  std::size_t bytes = 0;
  for (const RankLine& piece : alone.lines(std::string(1'000'000, '\x80'))) {
    CHECK(piece.rank == 0U);
    CHECK(piece.text.size() <= RankLines::kLineMost);
    bytes += piece.text.size();
  }
  CHECK(bytes + alone.rest_of_lines().at(0).text.size() == 1'000'000);
}
