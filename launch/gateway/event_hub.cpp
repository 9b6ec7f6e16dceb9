// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/event_hub.h"

#include <optional>
#include <string_view>
#include <utility>

#include "launch/system/text.h"

namespace starling {

void EventHub::say(const std::string& kind, const std::string& data) {
  pending_ += "id: " + life_ + "-" + std::to_string(++number_) + "\nevent: " + kind +
              "\ndata: " + data + "\n\n";
}

void EventHub::flush() {
  ByteStream::Piece piece;
  if (!pending_.empty()) {
    piece = std::make_shared<const std::string>(std::exchange(pending_, {}));
    said_.push_back({number_, piece});
    said_bytes_ += piece->size();
    while (said_bytes_ > kRemembered) {
      forgotten_ = said_.front().last;
      said_bytes_ -= said_.front().piece->size();
      said_.pop_front();
    }
    quiet_ = 0;
  } else if (++quiet_ >= kQuiet) {
    piece = std::make_shared<const std::string>(": still here\n\n");
    quiet_ = 0;
  }
  std::erase_if(watchers_, [&](const std::shared_ptr<ByteStream>& watcher) {
    const bool gone = piece == nullptr ? watcher->closed() : !watcher->push(piece);
    if (gone && watcher->overflowed()) ++dropped_;
    return gone;
  });
}

std::shared_ptr<ByteStream> EventHub::watch(const std::string& last_id, std::size_t most) {
  if (watchers_.size() >= most) return nullptr;
  // So that what is pending is said to the others first: the new one begins behind it.
  flush();
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
