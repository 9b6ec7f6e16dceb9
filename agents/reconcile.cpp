#include <algorithm>

#include "agents/step.h"

namespace starling {

void Step::request_inventory(SeatState& seat) {
  if (seat.asked == kNever) {
    seat.asked = now;
    seat.backoff = Duration{0};
  }
  send(seat.seat.node, InventoryRequest{s.fence()});
  seat.timer = retry_at(seat.backoff);
}

/// What runs at one executor, against the ledger. Its GPUs can be given away from now on. A repeat
/// is old news.
void Step::on(NodeId from, const Inventory& inventory) {
  const auto known = s.seat_index.find(from);
  if (known == s.seat_index.end()) return refuse();
  SeatState& seat = s.seats[known->second];
  if (seat.answered || inventory.fence != s.fence()) return;
  bool rightful = true;
  for (const InventoryItem& item : inventory.items) {
    rightful = reconcile(known->second, item) && rightful;
  }

  const auto listed = [&](AttemptId attempt) {
    return std::any_of(inventory.items.begin(), inventory.items.end(),
                       [&](const InventoryItem& item) { return item.attempt == attempt; });
  };
  std::vector<AttemptId> missing, dead;
  for (auto& [attempt, share] : s.shares) {
    for (Piece& piece : share.pieces) {
      if (piece.seat != known->second || listed(attempt)) continue;
      // The executor has never heard of it: only the home knows whether it may be launched. What
      // was seen running there has died with its machine.
      const bool old = share.launched == kNever || share.launched < seat.asked;
      const bool died = piece.state == Piece::State::running && old;
      if (died) dead.push_back(attempt);
      if (died) piece.state = Piece::State::gone;
      if (piece.state == Piece::State::unknown) missing.push_back(attempt);
    }
  }
  if (inventory.health != 0 || seat.health != 0)
    take_health(seat, inventory.health, inventory.sick);
  // Not trusted while something is there that has to go first: asked again until it is gone.
  if (rightful) {
    seat.answered = true;
    seat.heard_out = true;
    seat.asked = kNever;
    seat.timer = kNever;
    s.ledger.trust(seat.seat.servers);
  }
  for (const AttemptId attempt : dead) {
    fail_share(attempt, s.shares.at(attempt), {0, true, "its executor came back without it"});
  }
  for (const AttemptId attempt : missing) {
    OwnedShare& share = s.shares.at(attempt);
    if (!share.told) ask_home(attempt, share);
  }
  change(TriggerKind::departure);
}

bool Step::reconcile(std::uint32_t seat_index, const InventoryItem& item) {
  const NodeId executor = s.seats[seat_index].seat.node;
  const auto known = s.shares.find(item.attempt);
  if (known == s.shares.end()) {
    if (item.exited) return send(executor, ExitedAck{item.attempt, s.partition.id}), true;
    const bool ours = s.ledger.released(item.attempt) == nullptr &&
                      s.ledger.adopt(item.attempt, me(), item.gpus, HoldPhase::launched);
    if (!ours) return send(executor, Kill{item.attempt, s.fence()}), false;
    OwnedShare& share = s.shares[item.attempt];
    share.home_known = false;
    share.pieces = s.pieces_of(item.gpus, Piece::State::running);
    share.launched = now;
    share.word = now;
    return ask_home(item.attempt, share), true;
  }
  OwnedShare& share = known->second;
  const auto at = std::find_if(share.pieces.begin(), share.pieces.end(),
                               [&](const Piece& piece) { return piece.seat == seat_index; });
  if (at == share.pieces.end()) {
    if (item.exited) return send(executor, ExitedAck{item.attempt, s.partition.id}), true;
    return send(executor, Kill{item.attempt, s.fence()}), false;
  }
  if (item.exited) {
    piece_exited(item.attempt, share, *at, item.exit, item.served);
    return true;
  }
  if (at->state == Piece::State::killing) {
    send(executor, Kill{item.attempt, s.fence()});
    return true;
  }
  if (at->state == Piece::State::gone) {  // counted as lost: its clock is slower than it may be
    return send(executor, Kill{item.attempt, s.fence()}), false;
  }
  if (at->state != Piece::State::unknown && at->state != Piece::State::launching) return true;
  at->state = Piece::State::running;
  const bool all = std::all_of(share.pieces.begin(), share.pieces.end(), [](const Piece& piece) {
    return piece.state == Piece::State::running || piece.state == Piece::State::exited;
  });
  if (!all || share.told) return true;
  vouch(item.attempt, share);
  watch_home(item.attempt, share);
  if (share.home_known) tell(share.home, Started{item.attempt, s.partition.id});
  return true;
}

/// Repeated until the home has answered.
void Step::ask_home(AttemptId attempt, OwnedShare& share) {
  s.set_timer(attempt, share, later(now, s.config.timers.orphan_query));
  const AttemptQuery query = question(attempt, share);
  if (share.home_known) return tell(share.home, query);
  for (const PeerState& peer : s.peers) tell(peer.peer.agent, query);
}

}  // namespace starling
