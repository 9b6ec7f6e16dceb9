// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/event_hub.h"

#include <optional>
#include <string_view>
#include <utility>

#include "launch/system/text.h"

namespace starling {

void EventHub::say(const std::string& kind, const std::string& data) {
  pending_.push_back({"id: " + life_ + "-" + std::to_string(++number_) + "\nevent: " + kind +
                      "\ndata: " + data + "\n\n"});
}

void EventHub::say_of_job(const std::string& kind, const std::string& data) {
  say(kind, data);
  pending_.back().of_job = true;
  pending_of_jobs_ += pending_.back().text.size();
}

void EventHub::push(const ByteStream::Piece& piece) {
  std::erase_if(watchers_, [&](const std::shared_ptr<ByteStream>& watcher) {
    const bool gone = !watcher->push(piece);
    if (gone && watcher->overflowed()) ++dropped_;
    return gone;
  });
}

void EventHub::hand_out() {
  if (pending_of_jobs_ * watchers_.size() > kMostAtOnce)
    summed_ += std::erase_if(pending_, [](const Pending& one) { return one.of_job; });
  pending_of_jobs_ = 0;
  if (summed_ > 0 && since_sum_ >= kSumEvery) {
    say("jobs", "{\"changed\":" + std::to_string(std::exchange(summed_, 0)) + "}");
    since_sum_ = 0;
  }
  if (pending_.empty()) return;
  std::string all;
  for (const Pending& one : pending_) all += one.text;
  pending_.clear();
  const auto piece = std::make_shared<const std::string>(std::move(all));
  said_.push_back({number_, piece});
  said_bytes_ += piece->size();
  while (said_bytes_ > kRemembered) {
    forgotten_ = said_.front().last;
    said_bytes_ -= said_.front().piece->size();
    said_.pop_front();
  }
  quiet_ = 0;
  push(piece);
}

void EventHub::flush() {
  ++quiet_;
  ++since_sum_;
  hand_out();
  std::erase_if(watchers_, [](const auto& watcher) { return watcher->closed(); });
  if (quiet_ < kQuiet) return;
  quiet_ = 0;
  push(std::make_shared<const std::string>(": still here\n\n"));
}

std::shared_ptr<ByteStream> EventHub::watch(const std::string& last_id, std::size_t most) {
  if (watchers_.size() >= most) return nullptr;
  // So that what is pending is said to the others first: the new one begins behind it.
  hand_out();
  auto stream = std::make_shared<ByteStream>(kMostWaiting + kRemembered);
  const std::string prefix = life_ + "-";
  // Where there is no number, one above all that were said.
  const std::uint64_t last =
      last_id.starts_with(prefix)
          ? parse_whole(std::string_view(last_id).substr(prefix.size())).value_or(number_ + 1)
          : number_ + 1;
  // Comes without an id, so that it takes no event's place.
  stream->push("retry: 1000\n: life " + life_ + "\n\n");
  if (last >= forgotten_ && last <= number_) {
    // A piece may hold events that it has seen: an event says how a thing is, so twice is once.
    for (const Said& said : said_)
      if (said.last > last) stream->push(said.piece);
  } else if (!last_id.empty()) {
    stream->push("id: " + prefix + std::to_string(number_) + "\nevent: resync\ndata: {}\n\n");
  }
  watchers_.push_back(stream);
  return stream;
}

void EventHub::close() {
  for (const auto& watcher : watchers_) watcher->close();
  watchers_.clear();
}

}  // namespace starling
