# SPDX-License-Identifier: Apache-2.0
"""What a decision costs in each way in which one can decide: python measure_deciders.py PROGRAM PLUGIN.so GENERATED [JOBS]

The same rule, fewest GPUs first on the tightest server, as a plug-in in C++ (called as what is built in), in Python in
the process, and in a process of its own behind a socket (examples/decider.py; GENERATED is what flatc made for it).
CPU times of one run each, of both processes where there are two, so that other work on the machine counts little.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import starling

program, plugin, generated = sys.argv[1:4]
JOBS = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
HERE = os.path.dirname(os.path.abspath(__file__))
cluster = starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)
given = starling.Workload.generate("philly-like", jobs=JOBS, gpus=64, load=1.0, max_duration_s=43200, seed=1).frame()
given = given.assign(gpus=given.gpus.clip(upper=8), workers=1)  # within a server, where all of them have the same rule
jobs = starling.Workload.from_frame(given).scaled(64, 1.1)


class SmallestFirst(starling.Policy):
    def decide(self, view):
        for job in sorted(view.waiting, key=lambda job: job.gpus):
            gpus = None if job.blocked else view.place(job)
            if gpus is not None:
                yield starling.Start(job, gpus)


def told(what, decisions, own_s, wall_s, before=None):
    """`before`: what the same rule or a built-in one took where nothing else differs."""
    more = "" if before is None else f", {1e6 * (own_s - before) / decisions:+8.1f} us"
    print(f"{what:38} {decisions:7} decisions, {own_s:7.2f} s of CPU, {wall_s:6.1f} s, {1e6 * own_s / decisions:8.1f} us of CPU each"
          f"{more}", flush=True)
    return own_s


def in_process(policy, what, before=None):
    cpu, wall = time.process_time(), time.monotonic()
    run = starling.simulate(cluster, jobs, policy=policy)
    return run, told(what, run.decisions, time.process_time() - cpu, time.monotonic() - wall, before)


def by_program(folder, policy, what, before=None, other=lambda: 0.0):
    spent, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = subprocess.run([program, "sim", "--topology", f"{folder}/t.yaml", "--trace", f"{folder}/w.csv", "--policy",
                          policy, "--json", "--quiet"], capture_output=True, text=True, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    figures = json.loads(run.stdout)["runs"][0]
    cpu = after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime + other()
    return figures["trace_hash"], told(what, figures["decisions"], cpu, wall, before)


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


with tempfile.TemporaryDirectory() as folder:
    cluster.save(f"{folder}/t.yaml")
    jobs.save(f"{folder}/w.csv")
    _, built_in = by_program(folder, "fifo:queue=skip", "built in: fifo:queue=skip")
    by_hash, first = by_program(folder, plugin, "a plug-in in C++", built_in)
    _, built_in = in_process("fifo:queue=skip", "from Python, built in: fifo:queue=skip")
    run, _ = in_process(SmallestFirst, "from Python, a policy in Python", built_in)
    endpoint = f"ipc://{folder}/decider"
    decider = subprocess.Popen([sys.executable, os.path.join(HERE, "../examples/decider.py"), endpoint],
                               env={**os.environ, "PYTHONPATH": generated})
    try:
        begun = cpu_of(decider.pid)
        socket_hash, _ = by_program(folder, f"external:endpoint={endpoint},wait=yes,timeout=10000",
                                    "a Python process behind a socket", first, lambda: cpu_of(decider.pid) - begun)
    finally:
        decider.kill()
        decider.wait()
    print("the plug-in's run, Python's and the socket's:", by_hash, f"{run.trace_hash:016x}", socket_hash)
