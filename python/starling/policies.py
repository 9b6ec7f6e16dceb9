# SPDX-License-Identifier: Apache-2.0
"""Policies that are written in Python, for simulations in this process."""


class Policy:
    """A policy of one's own: override decide(). What it needs of the engine it says as attributes of the class:

    preemptive      it stops jobs (Preempt, Resize), and sees those that run
    elastic         it changes what jobs run on (Resize), and sees those that run
    needs_running   it sees those that run, and stops none
    round_s         it is also asked so often, s; 0: only when something happens

    Each agent has an object of the class. It may keep what it likes between calls, draws no random numbers but from a
    generator that it has seeded itself, and reads no clock: then the same run comes again.

        class Shortest(starling.Policy):
            def decide(self, view):
                for job in sorted(view.waiting, key=lambda job: job.duration_s):
                    gpus = view.place(job)
                    if gpus is not None:
                        yield starling.Start(job, gpus)
    """

    preemptive = False
    elastic = False
    needs_running = False
    round_s = 0.0

    def decide(self, view):
        """Decisions in the order in which they are to be tried: Start, Resize, Preempt, Forward; None for none. The
        core checks each against its ledger, so a wrong one costs quality, never safety. `view` and its jobs can be
        looked at during the call only. Jobs that are `blocked` are to be left alone."""
        raise NotImplementedError
