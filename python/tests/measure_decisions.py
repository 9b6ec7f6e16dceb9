# SPDX-License-Identifier: Apache-2.0
"""Decisions a second on one core, and what of it is not the simulator: python measure_decisions.py [JOBS]

Each line is the CPU time of one run of the same jobs with the same decisions, those of a policy of 64 weights that does
about what `lif:threshold=0.3` does, so the differences between lines are what each layer costs.
"""

import os
import sys
import tempfile
import time

import numpy

import starling
import starling.gym
import starling.pettingzoo

WORLD = {"physics": "full", "durations": "none"}
cluster = starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
jobs = starling.Workload.generate("philly-like", jobs=int(sys.argv[1]) if len(sys.argv) > 1 else 1000, gpus=64, load=1.6,
                                  max_duration_s=43200, seed=1)
weights = numpy.zeros(len(starling.FEATURES), numpy.float32)
for name, weight in {"slowdown": -1, "gain_lacking": -20, "waits": -1}.items():
    weights[starling.FEATURES.index(name)] = weight


def told(what, decisions, begun):
    took = time.process_time() - begun
    print(f"{what:44} {decisions:8} decisions {took:7.2f} s {decisions / took:9.0f} /s {1e6 * took / decisions:7.1f} us each")


def alone(decisions):
    """No program is asked: a net with these weights decides within the simulator."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "own.weights")
        starling.save_policy(file, weights)
        begun = time.process_time()
        starling.simulate(cluster, jobs, policy=f"marl:weights={file}", **WORLD)
        told("the simulator alone", decisions, begun)


def scored():
    begun, taken = time.process_time(), []
    episode = starling.Episode(cluster, jobs, **WORLD)
    more = episode.advance()
    while more:
        taken.append(int((episode.rows @ weights).argmax()))
        more = episode.step(taken[-1])
    told("Episode.step, rows scored by NumPy", episode.decisions, begun)
    return taken


def stepped(taken):
    begun = time.process_time()
    episode = starling.Episode(cluster, jobs, **WORLD)
    episode.advance()
    for option in taken:
        episode.step(option)
    told("Episode.step, nothing looked at", episode.decisions, begun)


def gymnasium(taken):
    env = starling.gym.ClusterEnv(cluster, jobs, **WORLD)
    begun = time.process_time()
    env.reset(seed=1)
    for option in taken:
        env.step(option)
    told("starling.gym.ClusterEnv", len(taken), begun)


def parallel():
    env = starling.pettingzoo.parallel_env(cluster, jobs, partitions=2, **WORLD)
    begun, count = time.process_time(), 0
    seen, _ = env.reset(seed=1)
    while env.agents:
        seen, *_ = env.step({agent: int(numpy.where(one["action_mask"], one["options"] @ weights, -numpy.inf).argmax())
                             for agent, one in seen.items()})
        count += 1
    told("starling.pettingzoo.parallel_env, 2 agents", count, begun)


options = scored()
alone(len(options))
stepped(options)
gymnasium(options)
parallel()
