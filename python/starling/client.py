# SPDX-License-Identifier: Apache-2.0
"""Jobs of a running flock: commands and Python functions.

    client = starling.Client("flock", gpus=1)
    job = client.submit(train, 0.1, epochs=3)           # a function of this program, with its arguments
    job = client.submit(["python", "train.py"], options={"gpus": 2, "name": "mine"})
    for job in starling.as_completed(client.map(train, [0.1, 0.2, 0.3])):
        print(job.result())
"""

import asyncio
import json
import os
import pickle
import shlex
import shutil
import sys
import tempfile
import time

from ._core import Flock

#: So often as_completed() and who awaits a job ask how it is, s.
POLL_S = 0.2


class JobFailed(RuntimeError):
    """A job did not end well. `state`: the dict that SubmittedJob.state() gives."""

    def __init__(self, message, state):
        super().__init__(message)
        self.state = state


def _options(options):
    """{"gpus": 2, "gpu_type": "V100"} as options of `starling submit`."""
    given = {}
    for name, value in options.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        given["--" + name.replace("_", "-")] = str(value)
    return given


def _pickler():
    try:
        import cloudpickle  # also takes functions of __main__, lambdas and closures
        return cloudpickle
    except ImportError:
        return pickle


class SubmittedJob:
    """A job of a flock. Whoever knows its `id` gets it back by Client.job()."""

    def __init__(self, client, id, folder=None):
        self.client, self.id, self.folder = client, id, folder

    def state(self):
        """dict: phase (waiting, starting, running, draining, finished, failed, cancelled), over, exit_code, gpus,
        attempts, queued_s, served_s and more. LookupError: no agent knows it."""
        return self.client._flock.job(self.id)

    def done(self):
        """It has ended, well or not."""
        return self.state()["over"]

    def wait(self, timeout=None):
        """Its state once it has ended. TimeoutError: not within `timeout` s."""
        state = self.client._flock.ended(self.id, timeout)
        if state is None:
            raise TimeoutError(f"job {self.id} has not ended within {timeout} s")
        return state

    def result(self, timeout=None):
        """Of a function, what it returned, once it has; of a command, its exit code, which is 0. JobFailed: it did not
        end well, and why: a function's traceback, or the end of what it printed."""
        state = self.wait(timeout)
        path = os.path.join(self.folder, "result.pkl") if self.folder else ""
        if path and os.path.exists(path):
            with open(path, "rb") as file:
                fine, value = pickle.load(file)
            if not fine:
                raise JobFailed(f"job {self.id} raised\n{value}", state)
            if state["phase"] == "finished":
                return value
        if state["phase"] != "finished":
            tail = self.logs()[-2000:]
            raise JobFailed(f"job {self.id} {state['phase']}, exit code {state['exit_code']}\n{tail}", state)
        if path:
            raise JobFailed(f"job {self.id} finished and left no result in {self.folder}; is that a folder that all "
                            "hosts have?", state)
        return state["exit_code"]

    def __await__(self):
        """`await job` is result(), while other coroutines go on; asyncio.gather(*jobs) is that of several."""
        return self._awaited().__await__()

    async def _awaited(self):
        while not await asyncio.to_thread(self.done):
            await asyncio.sleep(POLL_S)
        return await asyncio.to_thread(self.result)

    def logs(self, rank=None):
        """What its last attempt has printed so far; of one worker if `rank` is given."""
        return self.client._flock.output(self.id, rank)

    def explain(self):
        """Why it waits, or what it does: lines for people."""
        return self.client._flock.explain(self.id)

    def cancel(self):
        """Ends it, politely at first. Its state; PermissionError: this key may not."""
        state = self.client._flock.cancel([self.id])[0]
        if state["denied"]:
            raise PermissionError(state["denied"])
        return state

    def __repr__(self):
        return f"<starling.SubmittedJob {self.id}>"


class Client:
    """A running flock, as one of its users sees it. Threads may share one; they take turns.

    flock     its directory; default $STARLING_FLOCK
    folder    where functions and what they return lie, a folder that all hosts have; default .starling-jobs below the
              present one
    options   what every job asks for, by the names of `starling submit`: gpus, workers, cpus, memory_gib, gpu_type,
              priority, queue, name, requeue and so on
    """

    def __init__(self, flock="", *, folder=None, **options):
        self._flock = Flock(str(flock))
        self._options = options
        self._folder = os.path.abspath(folder or ".starling-jobs")

    def submit(self, what, /, *args, options=None, **keywords):
        """Hands over a command (a list of words, or a line for a shell) or a function with its arguments. Once this
        returns the job is durable. `options`: what this one asks for beside the client's. ValueError: it is refused,
        or could never run here; the message says why."""
        asked = {**self._options, **(options or {})}
        if not callable(what):
            if args or keywords:
                raise TypeError("a command is one list, or one line; only functions take arguments")
            words = ["sh", "-c", what] if isinstance(what, str) else [str(word) for word in what]
            return SubmittedJob(self, self._flock.submit(words, _options(asked)))
        asked.setdefault("name", getattr(what, "__name__", "function"))
        folder = self._write_call(what, args, keywords)
        try:
            id = self._flock.submit([sys.executable, "-m", "starling.job", folder], _options(asked))
        except (ValueError, Warning):  # refused; without an answer it may have been taken
            shutil.rmtree(folder)
            raise
        os.symlink(os.path.basename(folder), os.path.join(self._folder, id))
        return SubmittedJob(self, id, folder)

    def map(self, function, *parameters, options=None):
        """A job for each of zip(*parameters), in their order."""
        return [self.submit(function, *each, options=options) for each in zip(*parameters)]

    def job(self, id):
        """The job of that id, or of the id that begins so. Of a function's job result() is what the function returned
        if this client has the same `folder` as the one that submitted it, and otherwise its exit code."""
        id = self._flock.job(id)["id"]
        folder = os.path.join(self._folder, id)
        return SubmittedJob(self, id, os.path.realpath(folder) if os.path.isdir(folder) else None)

    def jobs(self):
        """How all jobs are that the flock still knows: a list of dicts as SubmittedJob.state()."""
        return self._flock.jobs()

    def agents(self):
        """A dict each: agent, gpus, free, waiting, running, finished, failed."""
        return self._flock.agents()

    def queues(self):
        """The queues in force: a dict with `version`, `tree` (as a file of queues has it), `uses` (a dict each: queue,
        maybe user, may, used, wanted) and `unaware`, the agents that do not go by them yet."""
        return json.loads(self._flock.queues())

    def set_queues(self, tree):
        """Puts other queues into force, for operators; `tree` as in queues(). What queues() gives then. ValueError: they
        make no sense, or this key may not; the message says why."""
        return json.loads(self._flock.set_queues(json.dumps(tree)))

    @property
    def topology(self):
        return self._flock.topology

    def _write_call(self, function, args, keywords):
        os.makedirs(self._folder, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="job-", dir=self._folder)
        try:
            call = _pickler().dumps((function, args, keywords))
        except Exception as wrong:
            os.rmdir(folder)
            raise TypeError(f"{function!r} and its arguments cannot be pickled: {wrong}") from wrong
        with open(os.path.join(folder, "call.pkl"), "wb") as file:
            pickle.dump((sys.path, call), file)
        return folder

    def __repr__(self):
        return f"<starling.Client of {shlex.quote(self.topology.name)}>"


def as_completed(jobs, timeout=None):
    """The jobs as they end. TimeoutError: some have not within `timeout` s."""
    left, until = list(jobs), None if timeout is None else time.monotonic() + timeout
    while left:
        known = {}
        for client in {job.client for job in left}:
            known.update((state["id"], state) for state in client.jobs())
        ended = [job for job in left if known.get(job.id, {}).get("over")]
        yield from ended
        left = [job for job in left if job not in ended]
        if not left or ended:
            continue
        if until is not None and time.monotonic() >= until:
            raise TimeoutError(f"{len(left)} of the jobs have not ended within {timeout} s")
        time.sleep(POLL_S)
