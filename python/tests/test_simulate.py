# SPDX-License-Identifier: Apache-2.0
import gc
import json
import pickle
import signal
import subprocess
import threading

import numpy
import pytest

import starling


@pytest.mark.parametrize("options", [
    {"policy": "srtf"},
    {"policy": "lif:threshold=0.3", "physics": "full", "agents": 2},
    {"policy": "optimus", "physics": "full", "durations": "noisy:0.5", "seed": 7, "load": 0.7},
])
def test_a_run_is_that_of_the_program(program, cluster, jobs, tmp_path, options):
    cluster.save(str(tmp_path / "cluster.yaml"))
    jobs.save(str(tmp_path / "jobs.csv"))
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    said = subprocess.run([program, "sim", "--topology", tmp_path / "cluster.yaml", "--trace", tmp_path / "jobs.csv",
                           "--json", "-q", "--out", tmp_path / "out", *words],
                          check=True, capture_output=True, text=True)
    there = json.loads((tmp_path / "out" / "summary.json").read_text())["runs"][0]
    run = starling.simulate(str(tmp_path / "cluster.yaml"), str(tmp_path / "jobs.csv"), **options)
    assert json.loads(said.stdout)
    assert there["trace_hash"] == f"{run.trace_hash:016x}"
    assert run.figures["avg_jct_s"] == pytest.approx(there["avg_jct_s"], rel=1e-9)


def test_same_arguments_same_run(cluster, jobs):
    hashes = {starling.simulate(cluster, jobs, policy="lif", physics="full", seed=s).trace_hash for s in (1, 1, 2)}
    assert len(hashes) == 2


def test_columns_look_into_the_run(cluster, jobs):
    run = starling.simulate(cluster, jobs, policy="fifo")
    for name in ("submit_s", "finish_s", "gpus", "attempts"):
        column = getattr(run, name)
        assert column.shape == (150,) and not column.flags.writeable and not column.flags.owndata
        assert numpy.shares_memory(column, getattr(run, name))
    finish = run.finish_s
    mean = float((finish - run.submit_s).mean())
    figures = run.figures
    del run
    gc.collect()
    assert finish.shape == (150,) and finish.min() > 0  # what it looks into is still there
    assert mean == pytest.approx(figures["avg_jct_s"])


def test_frames(cluster, jobs):
    pandas = pytest.importorskip("pandas")
    run = starling.simulate(cluster, jobs, policy="sjf")
    frame = run.frame()
    assert list(frame["job"]) == run.job_ids and (frame["state"] == "finished").all()
    assert frame["jct_s"].mean() == pytest.approx(run.figures["avg_jct_s"])
    assert run.timeline()["busy_gpus"].max() <= cluster.gpu_count
    back = starling.Workload.from_frame(jobs.frame()[["submit_s", "gpus", "duration_s", "model"]])
    assert isinstance(jobs.frame(), pandas.DataFrame)
    assert starling.simulate(cluster, starling.Workload.from_frame(jobs.frame())).trace_hash == starling.simulate(
        cluster, jobs).trace_hash
    with pytest.raises(ValueError, match="workload:1: column 'gpus' is missing"):
        starling.Workload.from_frame(jobs.frame()[["submit_s", "duration_s"]])
    assert list(back.workers * back.gpus_per_worker) == list(jobs.workers * jobs.gpus_per_worker)


def test_what_is_pickled_runs_alike(cluster, jobs):
    again = pickle.loads(pickle.dumps(cluster)), pickle.loads(pickle.dumps(jobs))
    assert again[0] == cluster
    assert starling.simulate(*again, policy="srtf").trace_hash == starling.simulate(
        cluster, jobs, policy="srtf").trace_hash


@pytest.mark.parametrize("option, value", [
    ("policy", "fifoo"), ("policy", "lif:threshold=x"), ("physics", "half"), ("durations", "noisy"),
    ("speed", "fast"), ("agents", 9), ("network", "nowhere.yaml"),
])
def test_bad_input_has_the_message_of_the_program(program, cluster, jobs, tmp_path, option, value):
    cluster.save(str(tmp_path / "cluster.yaml"))
    jobs.save(str(tmp_path / "jobs.csv"))
    said = subprocess.run([program, "sim", "--topology", tmp_path / "cluster.yaml", "--trace", tmp_path / "jobs.csv",
                           f"--{option}", str(value)], capture_output=True, text=True)
    assert said.returncode == 2
    with pytest.raises(ValueError) as wrong:
        starling.simulate(cluster, jobs, **{option: value})
    assert said.stderr.strip() == f"starling: {wrong.value}"


@pytest.mark.parametrize("load", ["-1", "nan"])
def test_a_load_that_is_none_is_refused(cluster, jobs, load):
    with pytest.raises(ValueError, match="--load: .* is wrong, give a number above 0"):
        starling.simulate(cluster, jobs, load=float(load))


def test_the_name_of_a_frame_is_no_path(jobs, tmp_path):
    (tmp_path / "mine.csv").write_text("precious")
    for name in (str(tmp_path / "mine"), "../mine", ".."):
        with pytest.raises(ValueError, match="give a word, not a path"):
            starling.Workload.from_frame(jobs.frame(), name=name)
    assert (tmp_path / "mine.csv").read_text() == "precious"


def test_files_that_are_wrong_are_named(tmp_path):
    (tmp_path / "bad.yaml").write_text("name: [\n")
    with pytest.raises(ValueError, match="bad.yaml"):
        starling.Topology.load(str(tmp_path / "bad.yaml"))
    with pytest.raises(OSError, match="none.csv"):
        starling.Workload.read(str(tmp_path / "none.csv"))
    with pytest.raises(TypeError, match="there is no 'gpu'"):
        starling.Topology.generate("flat", servers=2, gpu=4)
    with pytest.raises(ValueError, match="there is no kind 'philly'"):
        starling.Workload.generate("philly")


def test_progress_and_ctrl_c(cluster):
    long = starling.Workload.generate("philly-like", jobs=3000, gpus=64, load=1.2, max_duration_s=7200)
    seen = []
    run = starling.simulate(cluster, long, policy="fifo", progress=lambda over, all: seen.append((over, all)))
    assert seen and seen[-1][1] == 3000 and len(run) == 3000
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            starling.simulate(cluster, long, policy="lif", physics="full")


def test_ctrl_c_ends_an_experiment(tmp_path):
    (tmp_path / "long.yaml").write_text("""
name: long
topologies: [{name: flat-64, generate: flat, servers: 8, gpus_per_server: 8}]
workloads: [{name: jobs, generate: philly-like, jobs: 3000, gang_max: 8, duration_max: 2h}]
loads: [1.1]
policies: [fifo, srtf, "lif"]
seeds: 40
""")
    grid = starling.Experiment(str(tmp_path / "long.yaml"))
    timer = threading.Timer(1, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        grid.run(str(tmp_path / "out"), threads=1)


def test_what_progress_raises_comes_out(cluster, jobs):
    long = starling.Workload.generate("philly-like", jobs=3000, gpus=64, load=1.2, max_duration_s=7200)

    def stop(over, all):
        raise StopIteration("enough")
    with pytest.raises(StopIteration, match="enough"):
        starling.simulate(cluster, long, progress=stop)


def test_experiment(tmp_path):
    (tmp_path / "small.yaml").write_text("""
name: small
topologies: [{name: flat-8, generate: flat, servers: 2, gpus_per_server: 4}]
workloads: [{name: jobs, generate: philly-like, jobs: 40, gang_max: 4, duration_max: 1h}]
loads: [0.7]
policies: [fifo, srtf]
seeds: 2
""")
    grid = starling.Experiment(str(tmp_path / "small.yaml"))
    assert grid.name == "small" and len(grid.points) == 4
    told = grid.run(str(tmp_path / "out"), threads=1)
    assert told == {"ran": 4, "skipped": 0, "failed": []}
    assert (tmp_path / "out" / "report.html").exists()
    assert grid.run(str(tmp_path / "out"), resume=True)["skipped"] == 4
    record = json.loads((tmp_path / "out" / "runs" / (grid.points[1]["id"] + ".json")).read_text())
    topology, workload = grid.inputs(1)
    run = starling.simulate(topology, workload, policy=grid.points[1]["policy"], seed=grid.points[1]["seed"])
    assert f"{run.trace_hash:016x}" in json.dumps(record)
    with pytest.raises(RuntimeError, match="runs already"):
        grid.run(str(tmp_path / "out"))

    def stop(*told):
        raise StopIteration("enough")
    with pytest.raises(StopIteration, match="enough"):
        grid.run(str(tmp_path / "other"), threads=1, progress=stop)
    assert grid.run(str(tmp_path / "other"), resume=True)["ran"] < 4  # what had ended is kept
    with pytest.raises(ValueError, match="small.yaml"):
        starling.Experiment(str(tmp_path / "small.yaml"), split="training")
