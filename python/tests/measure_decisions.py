# SPDX-License-Identifier: Apache-2.0
"""Decisions a second on one core, and what of it is not the simulator: python measure_decisions.py [JOBS]

Each line is CPU time of one run of the same jobs in which the first option is always taken; with the same decisions all
the way, so that the differences between lines are what each layer costs.
"""

import sys
import time

import numpy

import starling
import starling.gym
import starling.pettingzoo

cluster = starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
jobs = starling.Workload.generate("philly-like", jobs=int(sys.argv[1]) if len(sys.argv) > 1 else 2000, gpus=64, load=1.1,
                                  max_duration_s=21600, seed=1)


def told(what, decisions, begun):
    took = time.process_time() - begun
    print(f"{what:44} {decisions:8} decisions {took:7.2f} s {decisions / took:9.0f} /s {1e6 * took / decisions:7.1f} us each")


def stepped():
    begun = time.process_time()
    episode = starling.Episode(cluster, jobs, physics="full", durations="none")
    more = episode.advance()
    while more:
        more = episode.step(0)
    told("Episode.step, nothing looked at", episode.decisions, begun)


def scored():
    begun = time.process_time()
    episode = starling.Episode(cluster, jobs, physics="full", durations="none")
    weights = numpy.zeros(len(starling.FEATURES), numpy.float32)
    more = episode.advance()
    while more:
        more = episode.step(int((episode.rows @ weights).argmax()))
    told("Episode.step, rows scored by NumPy", episode.decisions, begun)


def gymnasium():
    env = starling.gym.ClusterEnv(cluster, jobs)
    begun = time.process_time()
    env.reset(seed=1)
    over, info = False, {}
    while not over:
        _, _, over, _, info = env.step(0)
    told("starling.gym.ClusterEnv", info["decisions"], begun)


def parallel():
    env = starling.pettingzoo.parallel_env(cluster, jobs, partitions=2)
    begun = time.process_time()
    env.reset(seed=1)
    count, actions = 0, dict.fromkeys(env.possible_agents, 0)
    while env.agents:
        env.step(actions)
        count += 1
    told("starling.pettingzoo.parallel_env, 2 agents", count, begun)


for measure in (stepped, scored, gymnasium, parallel):
    measure()
