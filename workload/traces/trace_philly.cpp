// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "workload/traces/trace_format.h"

namespace starling {
namespace {

// Days from 1970-01-01 of a proleptic Gregorian date (Hinnant, "chrono-compatible date
// algorithms").
std::int64_t days_from_civil(std::int64_t y, std::int64_t m, std::int64_t d) {
  y -= m <= 2 ? 1 : 0;
  const std::int64_t era = y / 400;
  const std::int64_t yoe = y - era * 400;
  const std::int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  const std::int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146'097 + doe - 719'468;
}

bool digits(std::string_view text, std::size_t at, std::size_t count, std::int64_t& number) {
  const char* first = text.data() + at;
  if (*first < '0' || *first > '9') return false;
  const auto [stopped, error] = std::from_chars(first, first + count, number);
  return error == std::errc() && stopped == first + count;
}

// "2017-10-09 00:01:56" as seconds; the zone is the cluster's and is left alone.
bool parse_timestamp(std::string_view text, std::int64_t& seconds) {
  constexpr std::string_view form = "dddd-dd-dd dd:dd:dd";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != 'd' && text[i] != form[i] && !(i == 10 && text[i] == 'T')) return false;
  }
  std::int64_t y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  if (!digits(text, 0, 4, y) || !digits(text, 5, 2, mo) || !digits(text, 8, 2, d) ||
      !digits(text, 11, 2, h) || !digits(text, 14, 2, mi) || !digits(text, 17, 2, s)) {
    return false;
  }
  if (y < 1970 || y > 2200 || mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 || s > 60)
    return false;
  seconds = days_from_civil(y, mo, d) * 86'400 + h * 3600 + mi * 60 + s;
  return true;
}

class Philly final : public TraceFormat {
 public:
  Result<TraceRowJob> read(const TraceRow& row) override {
    std::int64_t submit = 0;
    if (!parse_timestamp(row.fields[0], submit)) {
      return row.wrong("timestamp is '" + std::string(row.fields[0]) +
                       "'; write it as 2017-10-09 00:01:56");
    }
    TraceRowJob out;
    JobSpec& spec = out.job.spec;
    if (!parse_seconds(row.fields[1], spec.duration)) {
      return row.wrong("duration_s is '" + std::string(row.fields[1]) +
                       "'; write seconds from 0, as 66 or 66.5");
    }
    std::int64_t gpus = 0;
    if (!parse_number(row.fields[2], gpus) || gpus < 0 || gpus > kTraceGangMax) {
      return row.wrong("num_gpus is '" + std::string(row.fields[2]) +
                       "'; write a whole number from 0 to " + std::to_string(kTraceGangMax));
    }
    out.job.submit = std::chrono::seconds(submit);
    out.dropped = gpus == 0 || spec.duration == Duration::zero();
    spec.queue = row.fields[4];
    set_gang(spec, static_cast<std::uint32_t>(gpus));
    return out;
  }
  [[nodiscard]] bool rebased() const noexcept override { return true; }
};

}  // namespace

Result<std::unique_ptr<TraceFormat>> philly_format(const TraceRow& header) {
  constexpr std::string_view columns[] = {"timestamp", "duration_s", "num_gpus", "gpu_time_s",
                                          "vc"};
  if (!std::equal(header.fields.begin(), header.fields.end(), std::begin(columns),
                  std::end(columns))) {
    return header.wrong(
        "is not the header of a Philly trace; it is timestamp,duration_s,num_gpus,gpu_time_s,vc");
  }
  return std::unique_ptr<TraceFormat>(std::make_unique<Philly>());
}

}  // namespace starling
