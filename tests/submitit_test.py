# SPDX-License-Identifier: Apache-2.0
"""submitit's own Slurm executor on a flock, by Slurm's names alone; called by submitit_test.sh."""

import os
import sys
import time

import submitit


def add(a: int, b: int) -> int:
    return a + b


def where() -> tuple:
    env = submitit.JobEnvironment()
    return env.job_id, env.global_rank, env.num_tasks, env.hostname


def fail() -> None:
    raise ValueError("as it was to")


def nap(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


class Counter:
    """Counts slowly; a warning of its time limit has it requeued with what it has counted."""

    def __init__(self, counted: int = 0):
        self.counted = counted

    def __call__(self, upto: int) -> tuple:
        begun = self.counted
        while self.counted < upto:
            time.sleep(0.5)
            self.counted += 1
        return begun, self.counted

    def checkpoint(self, upto: int) -> submitit.helpers.DelayedSubmission:
        return submitit.helpers.DelayedSubmission(Counter(self.counted), upto)


def becomes(job: submitit.Job, state: str) -> None:
    """Asked anew: a result is there before its process has ended, and states are kept for ten minutes."""
    for _ in range(300):
        job.get_info(mode="force")
        if job.state.startswith(state):
            return
        time.sleep(0.2)
    raise AssertionError(f"{job.job_id} is {job.state}, not {state}")


def main() -> None:
    executor = submitit.AutoExecutor(folder=os.path.join(os.getcwd(), "logs"), cluster="slurm")
    executor.update_parameters(timeout_min=5, slurm_additional_parameters={"gpus_per_task": 1})

    job = executor.submit(add, 5, 7)
    assert job.result() == 12, job.stderr()
    becomes(job, "COMPLETED")
    assert job.done()
    print("a function:", job.job_id)

    failing = executor.submit(fail)
    error = failing.exception()
    assert error is not None and "as it was to" in str(error), error
    print("its exception")

    executor.update_parameters(tasks_per_node=2)
    ranks = executor.submit(where).results()
    assert sorted(rank for _, rank, _, _ in ranks) == [0, 1] and ranks[0][2] == 2, ranks
    executor.update_parameters(tasks_per_node=1)
    print("two tasks:", ranks)

    executor.update_parameters(slurm_array_parallelism=2)
    jobs = executor.map_array(add, range(5), range(5))
    assert [j.result() for j in jobs] == [0, 2, 4, 6, 8]
    assert jobs[3].job_id.endswith("_3"), jobs[3].job_id
    print("an array:", jobs[0].job_id, "to", jobs[-1].job_id)

    sleeper = executor.submit(nap, 300)
    becomes(sleeper, "RUNNING")
    sleeper.cancel()
    becomes(sleeper, "CANCELLED")
    print("cancelled")

    # A minute's limit, of which the warning comes 50 seconds before the end.
    slow = submitit.AutoExecutor(folder=os.path.join(os.getcwd(), "logs"), cluster="slurm", slurm_max_num_timeout=3)
    slow.update_parameters(timeout_min=1, slurm_signal_delay_s=50, slurm_additional_parameters={"gpus_per_task": 1})
    counting = slow.submit(Counter(), 30)
    begun, counted = counting.result()
    assert begun > 0 and counted == 30, (begun, counted, counting.stderr())
    print("requeued at its limit, went on from", begun)


if __name__ == "__main__":
    main()
    sys.exit(0)
