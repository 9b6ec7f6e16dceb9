# SPDX-License-Identifier: Apache-2.0
"""A policy in Python beside built-in ones, and a plot: python own_policy.py

Writes own_policy.png: GPUs in use and jobs waiting over time.
"""

import matplotlib
import starling

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


class SmallFirst(starling.Policy):
    """Asks first about jobs that want the least GPU time, as their users estimate it."""

    def decide(self, view):
        for job in sorted(view.waiting, key=lambda job: job.duration_s * job.gpus):
            gpus = None if job.blocked else view.place(job)
            if gpus is not None:
                yield starling.Start(job, gpus)


cluster = starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
jobs = starling.Workload.generate("philly-like", jobs=500, gpus=64, load=1.2, max_duration_s=43200, seed=1)
runs = {name: starling.simulate(cluster, jobs, policy=policy)
        for name, policy in [("fifo", "fifo"), ("sjf", "sjf"), ("SmallFirst", SmallFirst)]}

figure, (above, below) = pyplot.subplots(2, sharex=True)
for name, run in runs.items():
    print(f"{name:12} mean JCT {run.figures['avg_jct_s'] / 3600:6.2f} h, p99 {run.figures['p99_jct_s'] / 3600:6.2f} h")
    above.step(run.timeline_s / 3600, run.timeline_busy_gpus, where="post", label=name)
    below.step(run.timeline_s / 3600, run.timeline_waiting, where="post")
above.set_ylabel("GPUs in use")
below.set_ylabel("jobs waiting")
below.set_xlabel("h")
above.legend()
figure.savefig("own_policy.png")
assert runs["SmallFirst"].figures["avg_jct_s"] < runs["fifo"].figures["avg_jct_s"]
