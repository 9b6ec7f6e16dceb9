// SPDX-License-Identifier: Apache-2.0
#include "workload/terms_text.h"

#include <doctest/doctest.h>

#include <ctime>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("times are written as people and as Slurm write them") {
  const std::pair<const char*, Duration> right[] = {{"90", 90s},
                                                    {"0.5", 500ms},
                                                    {"45s", 45s},
                                                    {"10m", 10min},
                                                    {"2h", 2h},
                                                    {"3d", 72h},
                                                    {"5:30", 5min + 30s},
                                                    {"1:00:00", 1h},
                                                    {"1-12", 36h},
                                                    {"1-00:30", 24h + 30min},
                                                    {"2-01:00:05", 49h + 5s},
                                                    {"0", 0s}};
  for (const auto& [text, time] : right) {
    CAPTURE(text);
    REQUIRE(parse_time(text).ok());
    CHECK(parse_time(text).value() == time);
  }
  for (const char* text : {"", "x", "-5", "1:2:3:4", "1-", "-1", "5:", "h", "1e99", "99999d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text).ok());
  }
}

TEST_CASE("a beginning is a date, an hour or a time ahead") {
  std::tm noon{};
  noon.tm_year = 127, noon.tm_mday = 31, noon.tm_hour = 12, noon.tm_isdst = -1;
  const Duration now = std::chrono::seconds(std::mktime(&noon));
  CHECK(parse_begin("now", now).value() == 0s);
  CHECK(parse_begin("+90", now).value() == 90s);
  CHECK(parse_begin("now+2h", now).value() == 2h);
  CHECK(parse_begin("16:00", now).value() == 4h);
  CHECK(parse_begin("11:00", now).value() == 23h);
  CHECK(parse_begin("2027-01-31T12:00:30", now).value() == 30s);
  CHECK(parse_begin("2027-02-01", now).value() == 12h);
  CHECK(parse_begin("2026-01-01", now).value() == 0s);
  for (const char* text : {"", "2027-02-31", "25:00", "tomorrow", "+", "2099-01-01"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_begin(text, now).ok());
  }
}

TEST_CASE("dependencies are written shortly, or as Slurm writes them") {
  const auto all = parse_after("ok:12ab,notok:3").value();
  REQUIRE(all.size() == 2);
  CHECK(all[0].how == After::How::ok);
  CHECK(all[0].job == "12ab");
  CHECK(all[1].how == After::How::not_ok);
  const auto slurm = parse_after("afterok:1:2,afterany:3").value();
  REQUIRE(slurm.size() == 3);
  CHECK(slurm[1].job == "2");
  CHECK(slurm[2].how == After::How::any);
  for (const char* text : {"", "ok", "ok:", "soon:1", "ok:1,any:1", "ok:1,"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_after(text).ok());
  }
}

TEST_CASE("a warning is a signal and a time before the limit") {
  CHECK(parse_signal("USR1@90").value().number == 10);
  CHECK(parse_signal("USR1@90").value().before == 90s);
  CHECK(parse_signal("SIGTERM").value().before == 60s);
  CHECK(parse_signal("B:12@5").value().number == 12);
  for (const char* text : {"", "@60", "USR9@60", "USR1@", "USR1@x", "65@1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_signal(text).ok());
  }
}

TEST_CASE("an array is a list of indices, and how many run at once") {
  using Tasks = std::vector<std::uint32_t>;
  CHECK(parse_array("0-3").value().tasks == Tasks{0, 1, 2, 3});
  CHECK(parse_array("5,1,3-7:2%2").value().tasks == Tasks{1, 3, 5, 7});
  CHECK(parse_array("5,1,3-7:2%2").value().at_once == 2);
  CHECK(parse_array("0-999999").value().tasks.size() == 1'000'000);
  for (const char* text : {"", "3-1", "0-9:0", "0-1000000", "a", "1,,2", "0-3%x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_array(text).ok());
  }
  CHECK(tasks_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7,8");
}

TEST_CASE("pauses double, and end at an hour") {
  JobTerms terms;
  CHECK(terms.pause_after(1) == JobTerms::kRetryAfter);
  terms.retry_after = 60s;
  CHECK(terms.pause_after(1) == 60s);
  CHECK(terms.pause_after(3) == 240s);
  CHECK(terms.pause_after(100) == 1h);
  terms.retry_after = 2h;
  CHECK(terms.pause_after(5) == 2h);
}

}  // namespace
}  // namespace starling
