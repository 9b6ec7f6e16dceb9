# SPDX-License-Identifier: Apache-2.0
"""What the environments for one and for several agents share: which world is played, and in which numbers."""

import numpy

from ._core import Episode, FEATURES, Topology, Workload

#: Keywords of starling.simulate() that a world takes, with what they are unless told otherwise. Durations are unknown
#: to agents, as they are to the learned policies.
WORLD = {"physics": "full", "speed": "analytic", "durations": "none", "network": "", "load": 0.0,
         "servers_per_executor": 0}


def philly_like(**keywords):
    """A workload that is drawn anew for each seed: Workload.generate("philly-like", seed=..., **keywords)."""
    return Drawn("philly-like", keywords)


class Drawn:
    """Of a seed the workload; can be pickled."""

    def __init__(self, kind, keywords):
        self.kind, self.keywords = kind, dict(keywords)

    def __call__(self, seed):
        return Workload.generate(self.kind, seed=seed, **self.keywords)


class Split:
    """The runs of one split of an experiment (docs/experiments.md), one for each seed: (Topology, Workload). Its
    topologies may differ; an environment has room for the options of all of them."""

    def __init__(self, file, split="", variables=None):
        from ._core import Experiment
        self.file, self.split, self.variables = file, split, dict(variables or {})
        self.experiment = Experiment(file, split, self.variables)
        seen, self.cases = set(), []
        for index, point in enumerate(self.experiment.points):
            what = (point["topology"], point["workload"], point["load"], point["seed"])
            if what not in seen:
                seen.add(what)
                self.cases.append(index)

    def __call__(self, seed):
        return self.experiment.inputs(self.cases[seed % len(self.cases)])

    def topologies(self):
        names = {}
        for index in self.cases:
            names.setdefault(self.experiment.points[index]["topology"], index)
        return [self.experiment.inputs(index)[0] for index in names.values()]

    def __reduce__(self):
        return Split, (self.file, self.split, self.variables)


class World:
    """What an environment plays, and the buffers for what is seen of a decision."""

    def __init__(self, topology, workload, agents, teacher, keywords):
        unknown = sorted(set(keywords) - set(WORLD))
        if unknown:
            raise TypeError(f"there is no '{unknown[0]}'; there are {', '.join(WORLD)}")
        self.topology = Topology.load(topology) if isinstance(topology, str) else topology
        self.workload = Workload.read(workload) if isinstance(workload, str) else workload
        if self.topology is None and not isinstance(self.workload, Split):
            raise TypeError("topology: it is missing; only a Split brings its own")
        self.agents, self.teacher, self.keywords = agents, teacher, {**WORLD, **keywords}
        shapes = [self.topology] if self.topology is not None else self.workload.topologies()
        self.most = max(Episode.most_options(shape, agents) for shape in shapes)
        self.features = len(FEATURES)
        self.rows = numpy.zeros((self.most, self.features), numpy.float32)
        self.mask = numpy.zeros(self.most, numpy.int8)
        self.episode, self.options, self.jobs, self.hours, self.masked = None, 0, 0, 0.0, 0

    def begin(self, seed):
        """A new run up to its first decision; False: it has none."""
        topology, workload = self.topology, self.workload
        if callable(workload):
            workload = workload(seed)
        if isinstance(workload, tuple):
            topology, workload = workload
        self.episode = None  # before the next one: only one run takes memory
        self.jobs, self.hours, self.masked = len(workload), 0.0, 0
        self.episode = Episode(topology, workload, self.teacher, agents=self.agents, seed=seed, **self.keywords)
        return self.episode.advance()

    def see(self):
        """Fills rows and mask."""
        self.options = self.episode.fill(self.rows, self.mask)

    def take(self, option):
        """Goes on to the next decision; False: the run is over. An option that there is not stands for the last one,
        which is waiting wherever the job may wait."""
        if not 0 <= option < self.options:
            self.masked += 1
            option = self.options - 1
        return self.episode.step(option)

    def reward(self):
        """By Little's law: minus the hours that jobs have been in the system since the last call, for each job of the
        run. Over a run that is minus the mean job completion time, h."""
        before, self.hours = self.hours, self.episode.job_hours
        return (before - self.hours) / self.jobs

    def told(self):
        """What is known beside the observation."""
        episode = self.episode
        info = {"now_s": episode.now_s, "jobs": episode.jobs_now, "decisions": episode.decisions,
                "masked": self.masked}
        if not episode.open:
            run = episode.result()
            info["run"] = run
            info["unfinished"] = run.figures["unfinished"]
        elif self.teacher:
            info["taught"] = episode.taught
        return info
