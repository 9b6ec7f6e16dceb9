// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/check.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

Piece* piece_at(AgentState& s, OwnedShare& share, NodeId executor) {
  for (Piece& piece : share.pieces) {
    if (s.owner.executors[piece.executor].node == executor) return &piece;
  }
  return nullptr;
}

bool all_in(const OwnedShare& share, Piece::State state) {
  return std::all_of(share.pieces.begin(), share.pieces.end(),
                     [&](const Piece& piece) { return piece.state == state; });
}

}  // namespace

void OwnerStep::launch(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: launch");
  for (Piece& piece : share.pieces) {
    piece.state = Piece::State::launching;
    start_began(piece);
  }
  share.launched = now;
  share.backoff = Duration{0};
  send_launches(attempt, share, Piece::State::launching);
}

void OwnerStep::send_launches(AttemptId attempt, OwnedShare& share, Piece::State of) {
  STARLING_MARK("agent: send_launches");
  bool waits = false;
  for (const Piece& piece : share.pieces) {
    waits = waits || piece.state == Piece::State::unknown;
    if (piece.state != of) continue;
    if (share.spec == nullptr) {  // adopted: only the process itself knew what it was
      return fail_share(attempt, share, {0, true, "its executor no longer runs it"});
    }
    waits = true;
    s.owner.executors[piece.executor].launch_sent = now;
    send(s.owner.executors[piece.executor].node,
         Launch{attempt, s.fence(), *share.spec, share.gang, piece.gpus, share.served});
  }
  vouch(attempt, share);
  if (waits) s.owner.set_timer(attempt, share, retry_at(share.backoff));
}

/// Started is said when every executor has. A refusal is final there, so the gang cannot become
/// whole.
void OwnerStep::on(NodeId from, const LaunchResult& result) {
  STARLING_MARK("agent: LaunchResult");
  const auto known = s.owner.shares.find(result.attempt);
  if (known == s.owner.shares.end()) return;
  OwnedShare& share = known->second;
  Piece* piece = piece_at(s, share, from);
  if (piece == nullptr || piece->state != Piece::State::launching) return;
  if (!result.ok) {
    piece->state = Piece::State::unknown;
    return fail_share(result.attempt, share, {0, true, "an executor refused: " + result.reason});
  }
  piece->state = Piece::State::running;
  const bool all = std::all_of(share.pieces.begin(), share.pieces.end(), [](const Piece& p) {
    return p.state == Piece::State::running || p.state == Piece::State::exited;
  });
  if (!all || share.exit_reported) return;
  share.backoff = Duration{0};
  vouch(result.attempt, share);
  watch_home(result.attempt, share);
  tell(share.home, Started{result.attempt, s.owner.partition.id});
}

/// The gang cannot go on. The home decides what follows and sends Release; until then it is told
/// again.
void OwnerStep::fail_share(AttemptId attempt, OwnedShare& share, ExitStatus exit) {
  STARLING_MARK("agent: fail_share");
  if (share.exit_reported || s.owner.ledger.find(attempt)->phase == HoldPhase::releasing) return;
  share.exit_reported = true;
  share.exit = std::move(exit);
  share.backoff = Duration{0};
  tell_exited(attempt, share);
}

void OwnerStep::tell_exited(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: tell_exited");
  Duration served = Duration::max();
  for (const Piece& piece : share.pieces) served = std::min(served, piece.served);
  s.owner.set_timer(attempt, share, retry_at(share.backoff));
  if (!share.home_known) return ask_home(attempt, share);
  // Who does not answer may be gone for good, so this goes on asking whether anybody cares.
  const bool old = later(share.confirmed_at, s.config.timers.home_word) <= now;
  if (s.lossy() && s.remote_home(share) && old) tell(share.home, question(attempt, share));
  tell(share.home, Exited{attempt, s.owner.partition.id, share.exit, served});
}

/// Of an attempt that is over here: acknowledged, so that the executor can forget it.
void OwnerStep::on_executor(NodeId from, const Exited& exited) {
  STARLING_MARK("agent: Exited of an executor");
  const auto known = s.owner.shares.find(exited.attempt);
  Piece* piece = known == s.owner.shares.end() ? nullptr : piece_at(s, known->second, from);
  if (piece == nullptr) return send(from, ExitedAck{exited.attempt, s.owner.partition.id});
  piece_exited(exited.attempt, known->second, *piece, exited.exit, exited.served);
}

void OwnerStep::piece_exited(AttemptId attempt, OwnedShare& share, Piece& piece,
                             const ExitStatus& exit, Duration served) {
  STARLING_MARK("agent: piece_exited");
  if (piece.state == Piece::State::gone) {
    return send(s.owner.executors[piece.executor].node, ExitedAck{attempt, s.owner.partition.id});
  }
  if (piece.state == Piece::State::exited) return;
  piece.served = served;
  if (piece.state == Piece::State::killing) return;  // the Kill is answered with Killed
  judge_start(share, piece, exit, served);
  piece.state = Piece::State::exited;
  if (exit.lost || exit.code != 0) return fail_share(attempt, share, exit);
  if (share.exit.log_tail.empty()) share.exit = exit;
  if (all_in(share, Piece::State::exited)) fail_share(attempt, share, share.exit);
}

void OwnerStep::on_executor(NodeId from, const Progress& progress) {
  STARLING_MARK("agent: Progress of an executor");
  const auto known = s.owner.shares.find(progress.attempt);
  if (known == s.owner.shares.end() || piece_at(s, known->second, from) == nullptr) return;
  if (known->second.home_known) tell(known->second.home, progress);
  sample(from, known->second, progress);
}

/// Lets go of the GPUs once nothing of the attempt is left on them; then says so.
void OwnerStep::release_share(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: release_share");
  if (s.owner.ledger.find(attempt)->phase == HoldPhase::releasing) return;
  s.owner.ledger.releasing(attempt);
  share.exit_reported = false;
  share.backoff = Duration{0};
  s.owner.set_timer(attempt, share, kNever);
  for (Piece& piece : share.pieces) {
    if (piece.state == Piece::State::idle) {
      piece.state = Piece::State::gone;
    } else if (piece.state == Piece::State::exited) {
      send(s.owner.executors[piece.executor].node, ExitedAck{attempt, s.owner.partition.id});
      piece.state = Piece::State::gone;
    } else if (piece.state != Piece::State::gone) {
      piece.state = Piece::State::killing;
    }
  }
  if (planted(Bug::released_before_kill)) {
    tell(share.home, Released{attempt, s.owner.partition.id, Duration{0}});
  }
  if (!all_in(share, Piece::State::gone)) return send_kills(attempt, share);
  check_released(attempt);
}

void OwnerStep::send_kills(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: send_kills");
  for (const Piece& piece : share.pieces) {
    if (piece.state != Piece::State::killing) continue;
    send(s.owner.executors[piece.executor].node, Kill{attempt, s.fence()});
  }
  s.owner.set_timer(attempt, share, retry_at(share.backoff));
}

void OwnerStep::on(NodeId from, const Killed& killed) {
  STARLING_MARK("agent: Killed");
  const auto known = s.owner.shares.find(killed.attempt);
  if (known == s.owner.shares.end()) return;
  Piece* piece = piece_at(s, known->second, from);
  if (piece == nullptr || piece->state != Piece::State::killing) return;
  piece->state = Piece::State::gone;
  piece->served = std::max(piece->served, killed.served);
  check_released(killed.attempt);
}

void OwnerStep::check_released(AttemptId attempt) {
  STARLING_MARK("agent: check_released");
  OwnedShare& share = s.owner.shares.at(attempt);
  if (!all_in(share, Piece::State::gone)) return;
  Duration served = Duration::max();
  for (const Piece& piece : share.pieces) served = std::min(served, piece.served);
  const AgentId home = share.home;
  const bool home_known = share.home_known;
  // Of a gang that is wholly ours the home's own record of this step says as much.
  const auto job = s.home.jobs.find(attempt.job);
  const bool follows =
      job != s.home.jobs.end() ? job->second.has(attempt) : s.home.remembered.is_over(attempt.job);
  if (home == me() && share.gang.size() == 1 && follows) {
    s.owner.ledger.forget(attempt);
  } else {
    persist(ShareReleased{attempt});
    if (served > Duration{0}) persist(TombstoneServed{attempt, served});
    s.owner.ledger.release(attempt, served, now, true);
  }
  s.owner.drop_share(attempt);
  change(TriggerKind::departure);
  if (home_known) tell(home, Released{attempt, s.owner.partition.id, served});
}

}  // namespace starling
