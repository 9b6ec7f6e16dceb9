# SPDX-License-Identifier: Apache-2.0
"""Trains a small placement policy and runs it in agents: python train_small.py [MINUTES]

The policy scores each option by 64 weights. First it learns what `lif:threshold=0.3` would do in situations that it gets
itself into (DAgger, Ross et al. 2011), then it is improved by evolution: pairs of opposite steps, compared by the
return of whole episodes (Salimans et al. 2017). What it has learned is saved for --policy marl:weights=small.weights,
and compared with its teacher on runs that it has not seen.
"""

import os
import sys
import time

import numpy

import starling
import starling.gym

QUICK = os.environ.get("STARLING_QUICK") == "1"
MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3 if QUICK else 8
TEACHER = "lif:threshold=0.3"
WORLD = {"physics": "full", "durations": "none"}
cluster = starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
workload = starling.gym.philly_like(jobs=100 if QUICK else 400, gpus=64, load=1.6, max_duration_s=43200)
random = numpy.random.default_rng(1)
began = time.monotonic()


def best(weights, rows):
    return int((rows @ weights).argmax())


def episode(weights, seed, teacher=None):
    """(minus the mean job completion time in h, [(rows, what the teacher would take)])."""
    world = starling.Episode(cluster, workload(seed), teacher or "", seed=seed, **WORLD)
    seen, more = [], world.advance()
    while more:
        rows = world.rows
        if teacher:
            seen.append((rows, world.taught))
        more = world.step(world.taught if weights is None else best(weights, rows))
    return -world.result().figures["avg_jct_s"] / 3600, seen


def imitate(weights, decisions, rounds=300, rate=0.05):
    """Softmax regression on what the teacher took, by Adam; rows of all decisions side by side."""
    most = max(len(rows) for rows, _ in decisions)
    rows = numpy.zeros((len(decisions), most, len(starling.FEATURES)), numpy.float32)
    there = numpy.zeros((len(decisions), most), bool)
    for i, (some, _) in enumerate(decisions):
        rows[i, :len(some)], there[i, :len(some)] = some, True
    taken = numpy.array([option for _, option in decisions])
    first, second = numpy.zeros_like(weights), numpy.zeros_like(weights)
    for step in range(1, rounds + 1):
        picked = random.integers(len(rows), size=min(512, len(rows)))
        scores = numpy.where(there[picked], rows[picked] @ weights, -numpy.inf)
        chances = numpy.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        chances[numpy.arange(len(picked)), taken[picked]] -= 1
        slope = numpy.einsum("do,dof->f", chances, rows[picked]) / len(picked) + 1e-4 * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights = weights - rate * first / (1 - 0.9**step) / (numpy.sqrt(second / (1 - 0.999**step)) + 1e-8)
    agree = numpy.where(there, rows @ weights, -numpy.inf).argmax(1) == taken
    return weights, agree.mean()


weights, decisions = numpy.zeros(len(starling.FEATURES)), []
for turn in range(3 if QUICK else 8):
    decisions += episode(None if turn == 0 else weights, 1000 + turn, TEACHER)[1]
    weights, agree = imitate(weights, decisions[-20000:])
    print(f"imitation {turn}: {len(decisions)} decisions, agrees with {TEACHER} in {agree:.1%}", flush=True)

taken, step, width = 0, 2000, 0.1 * numpy.abs(weights).mean() + 0.01
while time.monotonic() - began < 60 * MINUTES:
    moves, gains = [], []
    for _ in range(6):
        move = random.normal(size=len(weights)) * width
        moves.append(move)
        gains.append(episode(weights + move, step)[0] - episode(weights - move, step)[0])
        step += 1
    scale = numpy.std(gains) + 1e-9
    weights = weights + 0.5 * sum(g / scale * move for g, move in zip(gains, moves)) / len(moves)
    taken += 1
print(f"evolution: {taken} steps of 12 episodes")

starling.save_policy("small.weights", weights, notes={"trained": "python/examples/train_small.py"})


def held_out(policy):
    return numpy.array([starling.simulate(cluster, workload(seed), policy=policy, seed=seed, **WORLD).figures["avg_jct_s"]
                        for seed in range(1, 5 if QUICK else 21)]) / 3600


mine, teacher = held_out("marl:weights=small.weights"), held_out(TEACHER)
loss = mine / teacher - 1
print(f"mean JCT on {len(mine)} runs held out: {mine.mean():.3f} h, {TEACHER} {teacher.mean():.3f} h: "
      f"{loss.mean():+.1%} ± {1.96 * loss.std(ddof=1) / len(loss)**0.5:.1%}; {time.monotonic() - began:.0f} s in all")
