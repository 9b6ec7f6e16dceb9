# SPDX-License-Identifier: Apache-2.0
"""What Run and Workload have that is made in Python: pandas frames, pickles."""

import os
import tempfile

from ._core import Run, Workload


def _run_frame(self):
    """pandas.DataFrame, a row a job by submit time: the columns of jobs.csv (docs/experiments.md). Numbers look into
    the run's own memory as long as pandas does not copy them."""
    import pandas
    columns = {
        "job": self.job_ids, "name": self.names, "submit_s": self.submit_s, "start_s": self.start_s,
        "finish_s": self.finish_s, "jct_s": self.jct_s, "gpus": self.gpus, "model": self.models, "agent": self.agent,
        "placement": self.placements, "attempts": self.attempts, "forwards": self.forwards_of_job,
        "preemptions": self.preemptions_of_job, "service_s": self.service_s, "duration_s": self.duration_s,
        "state": self.states,
    }
    return pandas.DataFrame(columns, copy=False)


def _jct_s(self):
    """float64 [jobs]: from submission to the end; NaN for jobs that never ended."""
    import numpy
    return numpy.where(self.finish_s < 0, numpy.nan, self.finish_s - self.submit_s)


def _timeline_frame(self):
    """pandas.DataFrame: s, busy_gpus, waiting; a row for each change."""
    import pandas
    return pandas.DataFrame({"s": self.timeline_s, "busy_gpus": self.timeline_busy_gpus,
                             "waiting": self.timeline_waiting}, copy=False)


Run.frame = _run_frame
Run.jct_s = property(_jct_s)
Run.timeline = _timeline_frame


def _workload_frame(self):
    """pandas.DataFrame, a row a job by submit time; columns as in Starling's CSV, so from_frame() takes it back."""
    import pandas
    return pandas.DataFrame({
        "job_id": self.names, "submit_s": self.submit_ns / 1e9, "gpus": self.workers * self.gpus_per_worker,
        "duration_s": self.duration_ns / 1e9, "model": self.models, "user": self.users, "vc": self.queues,
        "workers": self.workers, "priority": self.priority,
    })


def _from_csv(text, name="workload"):
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"name: '{name}' is wrong; give a word, not a path")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            return Workload.read(path, format="starling")
        except ValueError as wrong:
            raise ValueError(str(wrong).replace(path, name)) from None


def _from_frame(cls, frame, name="workload"):
    """Of a pandas frame: columns submit_s, gpus and duration_s; if there, job_id (else rows are numbered), model, user,
    vc, workers and what else Starling's CSV has (docs/cli.md). ValueError names the line that is wrong."""
    if "job_id" not in frame.columns:
        frame = frame.assign(job_id=range(len(frame)))
    return _from_csv(frame.to_csv(index=False), name)


def _reduce(self):
    return _from_csv, (self.csv(), self.name or "workload")


Workload.frame = _workload_frame
Workload.from_frame = classmethod(_from_frame)
Workload.__reduce__ = _reduce
