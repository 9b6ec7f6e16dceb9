# SPDX-License-Identifier: Apache-2.0
"""The cluster as a PettingZoo environment: one agent for each partition, each seeing its own and no more.

    env = starling.pettingzoo.parallel_env(topology, starling.gym.philly_like(jobs=300, gpus=64), partitions=4)
"""

import numpy
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv

from .decisions import Drawn, Split, World, philly_like

__all__ = ["Drawn", "Split", "parallel_env", "philly_like"]


class parallel_env(ParallelEnv):
    """As starling.gym.ClusterEnv, with `partitions` agents: agent_0, agent_1, ... Agents of a data centre decide when
    something happens to them, one after the other, so of each step one has a decision, and the mask of all others
    leaves them one action, 0, which does nothing. What an agent sees is its last own decision's options while it has
    one, zeros otherwise: its partition, its queue, and what digests said of others.

    rewards      all agents share one: that of the whole data centre, as ClusterEnv's
    infos        "deciding": this agent has the decision; else as ClusterEnv's, for the one that has
    state()      float32: the options of all agents' present observations, for critics that see everything
    """

    metadata = {"name": "starling_cluster_v0", "render_modes": []}

    def __init__(self, topology=None, workload=None, *, partitions=2, teacher="", render_mode=None, **keywords):
        if workload is None:
            raise TypeError("workload: it is missing; give a Workload, a file, or what draws one: philly_like(...)")
        self.render_mode = render_mode
        self._made = (topology, workload, partitions, teacher, keywords)
        self._world = World(topology, workload, partitions, teacher, keywords)
        self.possible_agents = [f"agent_{i}" for i in range(partitions)]
        self.agents = []
        self._random, _ = seeding.np_random(None)
        shape = (self._world.most, self._world.features)
        self._spaces = {
            agent: spaces.Dict({"options": spaces.Box(-numpy.inf, numpy.inf, shape, numpy.float32),
                                "action_mask": spaces.Box(0, 1, shape[:1], numpy.int8)})
            for agent in self.possible_agents}
        self._actions = {agent: spaces.Discrete(self._world.most) for agent in self.possible_agents}
        self._idle = {"options": numpy.zeros(shape, numpy.float32),
                      "action_mask": numpy.eye(1, shape[0], dtype=numpy.int8)[0]}

    def observation_space(self, agent):
        return self._spaces[agent]

    def action_space(self, agent):
        return self._actions[agent]

    def reset(self, seed=None, options=None):
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        run_seed = int(self._random.integers(2**31)) if seed is None else int(seed)
        if not self._world.begin(run_seed):
            raise ValueError("the run is over before there is anything to decide; give more jobs, or more load")
        self._world.reward()
        self.agents = list(self.possible_agents)
        return self._observed(), self._told()

    def step(self, actions):
        if not self.agents:
            return {}, {}, {}, {}, {}
        more = self._world.take(int(actions[self._deciding()]))
        reward, agents = self._world.reward(), self.agents
        observed, told = self._observed(), self._told()
        if not more:
            self.agents = []
        return (observed, dict.fromkeys(agents, reward), dict.fromkeys(agents, not more),
                dict.fromkeys(agents, False), told)

    def state(self):
        return numpy.concatenate([self._observed_of(agent)["options"].ravel() for agent in self.possible_agents])

    def render(self):
        return None

    def close(self):
        self._world.episode, self.agents = None, []

    def _deciding(self):
        episode = self._world.episode
        return self.possible_agents[episode.agent] if episode is not None and episode.open else None

    def _observed_of(self, agent):
        if agent != self._deciding():
            return {key: value.copy() for key, value in self._idle.items()}
        return {"options": self._world.rows.copy(), "action_mask": self._world.mask.copy()}

    def _observed(self):
        self._world.see()
        return {agent: self._observed_of(agent) for agent in self.possible_agents}

    def _told(self):
        told, deciding = self._world.told(), self._deciding()
        return {agent: {**told, "deciding": True} if agent == deciding else
                {"deciding": False, **({"run": told["run"]} if "run" in told else {})}
                for agent in self.possible_agents}

    def __reduce__(self):
        return _made_again, self._made


def _made_again(topology, workload, partitions, teacher, keywords):
    return parallel_env(topology, workload, partitions=partitions, teacher=teacher, **keywords)
