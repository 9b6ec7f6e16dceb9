# SPDX-License-Identifier: Apache-2.0
"""The cluster as a Gymnasium environment: one agent takes each decision of a simulated data centre.

    env = starling.gym.ClusterEnv(topology, starling.gym.philly_like(jobs=300, gpus=64, load=0.9))
    env = gymnasium.make("starling/Philly-64-v0")
"""

import gymnasium
import numpy
from gymnasium import spaces

from .decisions import Drawn, Split, World, philly_like
from ._core import Topology

__all__ = ["ClusterEnv", "Drawn", "Split", "philly_like"]


class ClusterEnv(gymnasium.Env):
    """One episode is one run of the simulator. It stops wherever the policy `marl` would choose: a job waits, and could
    start at one of several places (free GPUs, or beside other jobs), go to another partition, or wait on.

    observation   dict: "options" float32 [M, 64], a row for each option, its columns named by starling.FEATURES, all of
                  the order of 1; "action_mask" int8 [M], 1 for the options that there are. The first 16 columns are
                  of the job, the queue and the partition, and equal in all rows.
    action        which option. One that there is not counts as the last there is, waiting wherever the job may wait;
                  info["masked"] counts them.
    reward        minus the hours that jobs were in the system between this decision and the next, for each job of the
                  run: by Little's law the sum over the run is minus its mean job completion time, h. It comes at
                  points of time that are not evenly apart.
    terminated    every job has ended, or nothing has moved for a simulated day; info["run"] is the Run, and
                  info["unfinished"] how many jobs have not finished

    topology      a Topology or a file; None with a Split, which brings its own
    workload      a Workload or a file; or what makes one of a seed: philly_like(...), a Split of an experiment
    teacher       a placement policy, "lif:threshold=0.3": info["taught"] is the option that it would take
    keywords      physics ("full"), speed, durations ("none"), network, load, servers_per_executor, as of
                  starling.simulate()

    Seeds: reset(seed=s) plays the run of seed s; without, seeds are drawn from the environment's generator. Same seed
    and actions, same run. With workloads that are not drawn, seeds change only what the world draws.

    Can be pickled and copied: the copy is what was made, before its first reset().
    """

    metadata = {"render_modes": []}

    def __init__(self, topology=None, workload=None, *, teacher="", render_mode=None, **keywords):
        if workload is None:
            raise TypeError("workload: it is missing; give a Workload, a file, or what draws one: philly_like(...)")
        self.render_mode = render_mode
        self._made = (topology, workload, teacher, keywords)
        self._world = World(topology, workload, 1, teacher, keywords)
        shape = (self._world.most, self._world.features)
        self.observation_space = spaces.Dict({
            "options": spaces.Box(-numpy.inf, numpy.inf, shape, numpy.float32),
            "action_mask": spaces.Box(0, 1, shape[:1], numpy.int8),
        })
        self.action_space = spaces.Discrete(self._world.most)

    def reset(self, *, seed=None, options=None):
        """Begins the run of `seed`; a workload that leaves nothing to decide is a ValueError."""
        super().reset(seed=seed)
        run_seed = int(self.np_random.integers(2**31)) if seed is None else int(seed)
        if not self._world.begin(run_seed):
            raise ValueError("the run is over before there is anything to decide; give more jobs, or more load")
        self._world.reward()  # what was before the first decision is no decision's doing
        return self._observed(), self._world.told()

    def step(self, action):
        if self._world.episode is None or not self._world.episode.open:
            raise gymnasium.error.ResetNeeded("the run is over, or has not begun: call reset()")
        more = self._world.take(int(action))
        reward = self._world.reward()
        return self._observed(), reward, not more, False, self._world.told()

    @property
    def episode(self):
        """The Episode that is played: of the open decision also `kinds`, `job` and `agent`. None before reset()."""
        return self._world.episode

    def action_masks(self):
        """bool [M]: what may be chosen now, as MaskablePPO asks."""
        return self._world.mask.astype(bool)

    def _observed(self):
        self._world.see()
        return {"options": self._world.rows.copy(), "action_mask": self._world.mask.copy()}

    def __reduce__(self):
        return _made_again, self._made


def _made_again(topology, workload, teacher, keywords):
    return ClusterEnv(topology, workload, teacher=teacher, **keywords)


def _philly_64(load=0.9, jobs=300, **keywords):
    topology = Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
    workload = philly_like(jobs=jobs, gpus=64, load=load, max_duration_s=43200)
    return ClusterEnv(topology, workload, **keywords)


def _suite(file, split, data, **keywords):
    return ClusterEnv(None, Split(file, split, {"DATA": data}), **keywords)


gymnasium.register("starling/Philly-64-v0", entry_point=_philly_64)
gymnasium.register("starling/Suite-v0", entry_point=_suite)
