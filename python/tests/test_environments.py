# SPDX-License-Identifier: Apache-2.0
import copy
import gc
import pickle
import resource
import threading
import warnings

import numpy
import pytest

import starling

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import parallel_api_test, parallel_seed_test  # noqa: E402

import starling.gym  # noqa: E402
import starling.pettingzoo  # noqa: E402


@pytest.fixture
def make_env(cluster):
    def make(**keywords):
        return starling.gym.ClusterEnv(cluster, starling.gym.philly_like(jobs=60, gpus=64, load=1.3,
                                                                         max_duration_s=7200), **keywords)
    return make


def play(env, choose, seed=1):
    """(return, hash of the run, observations of the first decisions) of an episode."""
    seen, info = env.reset(seed=seed)
    total, over, first = 0.0, False, [seen["options"]]
    while not over:
        seen, reward, over, _, info = env.step(choose(seen, info))
        total += reward
        first += [seen["options"]] if len(first) < 20 else []
    return total, info["run"], first


def first_option(seen, info):
    return 0


def test_gymnasium_is_content(make_env):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(make_env(), skip_render_check=True)
    bad = [str(one.message) for one in told if "infinity" not in str(one.message)]
    assert not bad, bad


def test_registered(cluster):
    env = gymnasium.make("starling/Philly-64-v0", jobs=40)
    seen, info = env.reset(seed=4)
    assert env.observation_space.contains(seen) and len(env.unwrapped.episode.kinds) == seen["action_mask"].sum()


def test_same_seed_and_actions_same_run(make_env):
    def by_numbers(seen, info):
        return int(seen["options"][:, 17].argmax())  # own_speed

    one, two, other = (play(make_env(), by_numbers, seed) for seed in (5, 5, 6))
    assert one[1].trace_hash == two[1].trace_hash != other[1].trace_hash
    assert all(numpy.array_equal(a, b) for a, b in zip(one[2], two[2]))


def test_rewards_are_the_mean_job_completion_time(make_env):
    total, run, _ = play(make_env(), first_option)
    assert total == pytest.approx(-run.figures["avg_jct_s"] / 3600, rel=2e-3)
    assert run.figures["finished"] == 60


def test_an_option_that_there_is_not_is_the_last(make_env):
    env = make_env()
    env.reset(seed=1)
    _, _, _, _, info = env.step(env.action_space.n - 1)
    assert info["masked"] == 1
    with pytest.raises(gymnasium.error.ResetNeeded):
        make_env().step(0)


def test_weights_that_are_exported_run_as_they_did_here(make_env, cluster, tmp_path):
    """The run of an environment under a net is, event for event, that of `--policy marl:weights=` with it."""
    random = numpy.random.default_rng(1)
    skip = (random.normal(size=64) / 4).astype(numpy.float32)
    hidden = (random.normal(size=(8, 64)) / 8).astype(numpy.float32), random.normal(size=8).astype(numpy.float32)
    out = random.normal(size=(1, 8)).astype(numpy.float32), numpy.zeros(1, numpy.float32)
    starling.save_policy(str(tmp_path / "own.weights"), skip, [hidden, out], activation="tanh")
    assert numpy.array_equal(starling.load_weights(str(tmp_path / "own.weights"))["skip"], skip)
    env = make_env()

    def by_net(seen, info):
        rows = seen["options"]
        scores = rows @ skip + (numpy.tanh(rows @ hidden[0].T + hidden[1]) @ out[0].T)[:, 0]
        return int(numpy.where(seen["action_mask"] == 1, scores, -numpy.inf).argmax())

    _, run, _ = play(env, by_net, seed=9)
    there = starling.simulate(cluster, starling.gym.philly_like(jobs=60, gpus=64, load=1.3, max_duration_s=7200)(9),
                              policy=f"marl:weights={tmp_path / 'own.weights'}", physics="full", durations="none",
                              seed=9)
    assert there.trace_hash == run.trace_hash
    with pytest.raises(ValueError, match="layer 1 has shapes"):
        starling.save_policy(str(tmp_path / "bad.weights"), skip, [hidden, hidden])


def test_a_teacher_is_asked(make_env):
    taught, run, _ = play(make_env(teacher="lif:threshold=0.3"), lambda seen, info: info["taught"])
    assert run.figures["finished"] == 60
    with pytest.raises(ValueError, match="teacher: "):
        make_env(teacher="fifo").reset(seed=1)


def test_pickles_and_copies_are_new(make_env):
    env = make_env(load=0.9)
    env.reset(seed=2)
    for again in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert numpy.array_equal(again.reset(seed=2)[0]["options"], env.reset(seed=2)[0]["options"])


def test_vectorised(make_env):
    envs = gymnasium.vector.SyncVectorEnv([make_env, make_env])
    seen, _ = envs.reset(seed=[1, 2])
    for _ in range(50):
        seen, rewards, *_ = envs.step(numpy.zeros(2, int))
    assert seen["options"].shape[0] == 2 and (rewards <= 0).all()
    envs.close()


def test_memory_does_not_grow(make_env):
    env = make_env()

    def some(count):
        for i in range(count):
            env.reset(seed=i % 7)
            for _ in range(3):
                env.step(0)
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    before = some(100)
    assert some(1000) - before < 2 * 2**20


def test_bad_input(cluster, jobs):
    with pytest.raises(TypeError, match="there is no 'polcy'"):
        starling.gym.ClusterEnv(cluster, jobs, polcy="fifo")
    with pytest.raises(TypeError, match="workload: it is missing"):
        starling.gym.ClusterEnv(cluster)
    with pytest.raises(ValueError, match="--physics: 'half' is wrong"):
        starling.gym.ClusterEnv(cluster, jobs, physics="half").reset(seed=1)
    with pytest.raises(ValueError, match="--agents: 9 agents cannot share 8 servers"):
        starling.pettingzoo.parallel_env(cluster, jobs, partitions=9).reset(seed=1)


def first_options(episode):
    more = episode.advance()
    while more:
        more = episode.step(0)
    return episode.result().trace_hash


def test_an_episode_out_of_turn_is_told(cluster, jobs):
    episode = starling.Episode(cluster, jobs)
    with pytest.raises(RuntimeError, match="no decision"):
        episode.step(0)
    assert episode.advance()
    with pytest.raises(RuntimeError, match="a decision is open"):
        episode.advance()
    with pytest.raises(RuntimeError, match="not over"):
        episode.result()
    while episode.step(0):
        pass
    assert episode.advance() is False and episode.advance() is False
    assert episode.result().trace_hash == first_options(starling.Episode(cluster, jobs))


def test_threads_that_step_one_episode_are_told(cluster, jobs):
    episode, told, ended = starling.Episode(cluster, jobs), set(), threading.Event()
    episode.advance()

    def play():
        while not ended.is_set():
            try:
                episode.now_s
                if not episode.step(0):
                    ended.set()
            except RuntimeError as wrong:
                told.add(str(wrong)[:14])
    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told <= {"another thread", "there is no de"}
    assert episode.result().trace_hash == first_options(starling.Episode(cluster, jobs))


@pytest.fixture
def make_parallel(cluster):
    def make():
        return starling.pettingzoo.parallel_env(
            cluster, starling.gym.philly_like(jobs=60, gpus=64, load=1.3, max_duration_s=7200), partitions=3)
    return make


def test_pettingzoo_is_content(make_parallel):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        parallel_api_test(make_parallel(), num_cycles=300)
    parallel_seed_test(make_parallel, num_cycles=100)


def test_one_agent_decides_and_sees_its_own(make_parallel):
    env = make_parallel()
    seen, infos = env.reset(seed=3)
    deciders, total = set(), 0.0
    while env.agents:
        deciding = [agent for agent in env.agents if infos[agent]["deciding"]]
        assert len(deciding) == 1
        deciders.update(deciding)
        for agent in env.agents:
            if agent not in deciding:
                assert not seen[agent]["options"].any() and seen[agent]["action_mask"].sum() == 1
        actions = dict.fromkeys(env.agents, 0)
        seen, rewards, over, _, infos = env.step(actions)
        total += rewards["agent_0"]
        assert len(set(rewards.values())) == 1
    assert deciders == {"agent_0", "agent_1", "agent_2"}
    run = infos["agent_0"]["run"]
    assert total == pytest.approx(-run.figures["avg_jct_s"] / 3600, rel=2e-3)


def test_splits_of_an_experiment(tmp_path):
    (tmp_path / "grid.yaml").write_text("""
name: grid
topologies:
  - {name: flat-8, generate: flat, servers: 2, gpus_per_server: 4}
  - {name: flat-12, generate: flat, servers: "2:V100,1:P100", gpus_per_server: 4}
workloads: [{name: jobs, generate: philly-like, jobs: 40, gang_max: 4, duration_max: 1h}]
loads: [1.2]
policies: [fifo]
seeds: 2
physics: full
""")
    split = starling.gym.Split(str(tmp_path / "grid.yaml"))
    env = starling.gym.ClusterEnv(None, split)
    worlds = {play(env, first_option, seed)[1].topology for seed in range(4)}
    assert worlds == {"flat-2x4", "flat-3x4"}
