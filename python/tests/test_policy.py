# SPDX-License-Identifier: Apache-2.0
import traceback

import pytest

import starling


class InTurn(starling.Policy):
    """fifo with queue=skip, as the program has it."""

    def decide(self, view):
        for job in view.waiting:
            gpus = None if job.blocked else view.place(job)
            if gpus is not None:
                yield starling.Start(job, gpus)


class Shortest(starling.Policy):
    def decide(self, view):
        decisions = []
        for job in sorted(view.waiting, key=lambda job: job.duration_s):
            gpus = view.place(job, fit="count")
            if gpus is not None:
                decisions.append(starling.Start(job, gpus))
        return decisions


def test_a_policy_of_twenty_lines_orders_jobs(cluster, jobs):
    mine = starling.simulate(cluster, jobs, policy=Shortest)
    fifo = starling.simulate(cluster, jobs, policy="fifo")
    assert mine.figures["finished"] == 150 and mine.policy == "python"
    assert mine.figures["avg_jct_s"] < fifo.figures["avg_jct_s"]
    assert mine.trace_hash == starling.simulate(cluster, jobs, policy=Shortest).trace_hash


def test_each_agent_has_its_own(cluster, jobs):
    made = []

    class Mine(InTurn):
        def __init__(self):
            self.agents = set()
            made.append(self)

        def decide(self, view):
            self.agents.add(view.agent)
            return super().decide(view)

    starling.simulate(cluster, jobs, policy=Mine, agents=2)
    assert sorted(agent for one in made for agent in one.agents) == [0, 1]
    with pytest.raises(TypeError, match="give its class"):
        starling.simulate(cluster, jobs, policy=Mine(), agents=2)


def test_preemption(cluster, jobs):
    class Stops(starling.Policy):
        preemptive = True
        stopped = 0

        def decide(self, view):
            assert all(job.placement for job in view.running)
            if view.waiting and view.running and Stops.stopped < 5 and not view.running[0].blocked:
                Stops.stopped += 1
                yield starling.Preempt(view.running[0])
            yield from InTurn.decide(self, view)

    run = starling.simulate(cluster, jobs, policy=Stops)
    assert run.preemptions == 5 and run.figures["finished"] == 150


def test_an_error_names_its_line_and_when(cluster, jobs):
    class Breaks(starling.Policy):
        def decide(self, view):
            if view.now_s > 1000:
                return [1 / 0]  # this line
            return None

    with pytest.raises(ZeroDivisionError) as wrong:
        starling.simulate(cluster, jobs, policy=Breaks)
    text = "".join(traceback.format_exception(wrong.value))
    assert "this line" in text
    assert "in decide() of agent 0 at 1" in text


def test_what_is_no_decision_is_told(cluster, jobs):
    class Wrong(starling.Policy):
        def decide(self, view):
            return ["start"]

    with pytest.raises(TypeError, match="decide\\(\\) gives decisions"):
        starling.simulate(cluster, jobs, policy=Wrong)
    with pytest.raises(TypeError, match="policy: "):
        starling.simulate(cluster, jobs, policy=7)


def test_wrong_decisions_cost_time_and_no_safety(cluster, jobs):
    class Lies(starling.Policy):
        def decide(self, view):
            for job in view.waiting[:1]:
                yield starling.Start(job, [0])  # as if it were always free, and one GPU enough
            yield from InTurn.decide(self, view)

    run = starling.simulate(cluster, jobs, policy=Lies, check=True)
    assert run.figures["finished"] == 150


def test_a_view_is_closed_after_its_call(cluster, jobs):
    kept = []

    class Keeps(InTurn):
        def decide(self, view):
            kept.append((view, view.waiting))
            return list(super().decide(view))

    starling.simulate(cluster, jobs, policy=Keeps)
    view, waiting = kept[-2]
    with pytest.raises(RuntimeError, match="during decide"):
        view.now_s
    for job in waiting[:1]:
        with pytest.raises(RuntimeError, match="during decide"):
            job.gpus
