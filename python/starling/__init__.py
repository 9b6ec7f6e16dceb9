# SPDX-License-Identifier: Apache-2.0
"""Starling from Python: simulate, learn, submit. The manual is docs/python.md.

Topology, Workload   what runs where; made, read, written
simulate             a run of both under a policy, built in or written here
Experiment           a grid of runs, from a file
starling.gym         an environment for one agent (Gymnasium)
starling.pettingzoo  one for several (PettingZoo)
Client               jobs of a running flock

Bad input is a ValueError with the message that the command `starling` has; its `--name` is the keyword `name` here.
Times are in seconds where a name ends in _s, and counted from the start of the run.
"""

from ._core import (
    Decision,
    Episode,
    Experiment,
    FEATURES,
    Forward,
    Job,
    Preempt,
    Resize,
    Run,
    SITUATION_FEATURES,
    Start,
    Topology,
    View,
    Workload,
    load_weights,
    misfits,
    save_weights,
    simulate as _simulate,
)
from . import _frames  # noqa: F401  gives Run and Workload their frames and pickles
from .client import Client, JobFailed, SubmittedJob, as_completed
from .policies import Policy
from .weights import save_policy

__all__ = [
    "Client", "Decision", "Episode", "Experiment", "FEATURES", "Forward", "Job", "JobFailed", "Policy", "Preempt",
    "Resize", "Run", "SITUATION_FEATURES", "Start", "SubmittedJob", "Topology", "View", "Workload", "as_completed",
    "load_weights", "misfits", "save_policy", "save_weights", "simulate",
]


def simulate(topology, workload, *, policy="starling", agents=1, physics="trace", speed="analytic", durations="exact",
             network="", seed=1, load=0.0, servers_per_executor=0, check=False, progress=None):
    """Runs the workload to its end in simulated time and returns the Run. Same arguments, same run, event for event as
    `starling sim` with the same options: their trace_hash is equal.

    topology              a Topology, or the name of a file
    workload              a Workload, or the name of a file
    policy                NAME:key=value,... (`starling policies` lists them), or one in Python: a class whose objects
                          have decide(view), of which each agent gets one; see Policy
    agents                schedulers, each with a partition of its own
    physics, speed, durations, network, seed, load, servers_per_executor, check
                          as the options of `starling sim`
    progress              called now and then with (jobs that are over, all jobs)

    ValueError: something is wrong with the input. RuntimeError: the simulation found a broken rule. What decide() raises
    comes out as it is, with a note that says when and where. Ctrl-C ends the run.
    """
    topology = Topology.load(topology) if isinstance(topology, str) else topology
    workload = Workload.read(workload) if isinstance(workload, str) else workload
    return _simulate(topology, workload, progress, policy=policy, agents=agents, physics=physics, speed=speed,
                     durations=durations, network=network, seed=seed, load=load,
                     servers_per_executor=servers_per_executor, check=check)
