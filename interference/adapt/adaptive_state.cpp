// SPDX-License-Identifier: Apache-2.0
// What AdaptiveCorrections keeps where it outlives the process.
#include <bit>
#include <cmath>

#include "interference/adapt/adaptive_corrections.h"
#include "interference/learned/state_words.h"

namespace starling {
namespace {

constexpr std::uint64_t kMagic = 0x3154504144535453;  // "STSDAPT1"
constexpr std::size_t kHeaderWords = 6;

void put_number(std::vector<std::byte>& out, double value) {
  put_word(out, std::bit_cast<std::uint64_t>(value));
}

std::uint64_t key_of(const Meeting& m) {
  return std::uint64_t{m.victim} << 32U | std::uint64_t{m.other} << 16U |
         std::uint64_t{m.kind} << 8U | static_cast<std::uint64_t>(m.relation);
}

Error invalid(const char* what) {
  return {Errc::invalid, std::string("what the speed model had learned: ") + what};
}

/// Reads words in turn; after the end it says so and gives zeros.
class Words {
 public:
  Words(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  std::uint64_t next() {
    ok_ = ok_ && at_ < bytes_.size() / 8;
    return ok_ ? word_of(bytes_, at_++) : 0;
  }
  double number() {
    const double value = std::bit_cast<double>(next());
    ok_ = ok_ && std::isfinite(value);
    return value;
  }
  std::size_t& at() { return at_; }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool ok_ = true;
};

}  // namespace

std::vector<std::byte> AdaptiveCorrections::state(std::uint64_t weights) const {
  if (observed_ == 0) return {};
  const std::uint64_t hash = hash_with(weights);
  const std::vector<std::byte> residuals = residuals_.state(hash);
  std::vector<std::byte> out;
  for (const std::uint64_t word : {kMagic, hash, observed_, drifts_,
                                   std::uint64_t{residuals.size()}, std::uint64_t{kinds_.size()}})
    put_word(out, word);
  out.insert(out.end(), residuals.begin(), residuals.end());
  for (const auto& [number, kind] : kinds_) {
    put_word(out, number);
    put_word(out, kind.effects ? 1 : 0);
    for (const PageHinkley* test : {&kind.fresh, &kind.known}) {
      put_number(out, test->sum());
      put_word(out, test->since());
    }
    put_word(out, kind.fresh_for);
    put_word(out, kind.since);
    put_word(out, kind.recent.size());
    for (const Sample& sample : kind.recent) {
      put_number(out, sample.log_ratio);
      put_number(out, sample.more);
      put_word(out, sample.meetings.size());
      for (const Meeting& m : sample.meetings) {
        put_word(out, key_of(m));
        put_number(out, m.predicted);
      }
    }
    if (kind.effects) kind.effects->save(out);
  }
  put_word(out, check_of_words(out, kMagic));
  return out;
}

Status AdaptiveCorrections::restore(std::span<const std::byte> state, std::uint64_t weights) {
  if (state.empty()) return done();
  if (state.size() < 8 * (kHeaderWords + 1) || state.size() % 8 != 0 || word_of(state, 0) != kMagic)
    return invalid("these bytes are not its state, or cut short");
  const std::size_t words = state.size() / 8;
  if (check_of_words(state.first(8 * (words - 1)), kMagic) != word_of(state, words - 1))
    return invalid("cut short or altered");
  const std::uint64_t hash = hash_with(weights);
  if (word_of(state, 1) != hash) return invalid("it belongs to other weights");
  const std::uint64_t size = word_of(state, 4);
  if (size % 8 != 0 || size > state.size() - 8 * kHeaderWords) return invalid("cut short");
  Residuals residuals;
  if (Status read = residuals.restore(state.subspan(8 * kHeaderWords, size), hash); !read.ok())
    return read;
  Words in(state.first(8 * (words - 1)), kHeaderWords + size / 8);
  std::map<std::uint8_t, Kind> kinds;
  for (std::uint64_t left = word_of(state, 5); left > 0 && in.ok(); --left) {
    Kind& kind = kinds[static_cast<std::uint8_t>(in.next())];
    const bool adapted = in.next() != 0;
    for (PageHinkley* test : {&kind.fresh, &kind.known}) {
      const double sum = in.number();
      test->restore(sum, static_cast<std::uint32_t>(in.next()));
    }
    kind.fresh_for = static_cast<std::uint32_t>(in.next());
    kind.since = static_cast<std::uint32_t>(in.next());
    const std::uint64_t samples = in.next();
    if (samples > kRecent) return invalid("altered");
    for (std::uint64_t i = 0; i < samples && in.ok(); ++i) {
      Sample& sample = kind.recent.emplace_back();
      sample.log_ratio = in.number(), sample.more = in.number();
      const std::uint64_t meetings = in.next();
      if (meetings > kMostMeetings) return invalid("altered");
      for (std::uint64_t k = 0; k < meetings; ++k) {
        const std::uint64_t key = in.next();
        Meeting& m = sample.meetings.emplace_back();
        m.victim = static_cast<std::uint16_t>(key >> 32U);
        m.other = static_cast<std::uint16_t>(key >> 16U & 0xFFFFU);
        m.kind = static_cast<std::uint8_t>(key >> 8U & 0xFFU);
        m.predicted = in.number();
        if (m.victim >= profiles_.size() || m.other >= profiles_.size())
          return invalid("it names a job type that there is not");
      }
    }
    if (!adapted) continue;
    kind.effects.emplace(prior_);
    if (Status read = kind.effects->restore(state.first(8 * (words - 1)), in.at()); !read.ok())
      return read;
  }
  if (!in.ok() || in.at() != words - 1) return invalid("cut short");
  residuals_ = std::move(residuals);
  kinds_ = std::move(kinds);
  observed_ = word_of(state, 2), drifts_ = word_of(state, 3);
  return done();
}

}  // namespace starling
