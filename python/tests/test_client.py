# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
import warnings

import pytest

import starling


def add(a, b=1):
    print("adding", a, b)
    return a + b


def fail(text):
    raise ValueError(text)


@contextlib.contextmanager
def running(program, folder):
    """A real flock of this machine: two servers of two GPUs, one agent. Its directory."""
    subprocess.run([program, "topology", "generate", "flat", "--servers", "2", "--gpus", "2", "-o", "two.yaml"],
                   cwd=folder, check=True, capture_output=True)
    log = folder / "up.log"
    with open(log, "w") as out:
        up = subprocess.Popen([program, "up", "--topology", "two.yaml", "--agents", "1", "--flock", "flock"],
                              cwd=folder, stdout=out, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 120
        while "\nready: " not in "\n" + log.read_text():
            assert up.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield str(folder / "flock")
    finally:
        up.send_signal(signal.SIGINT)
        try:
            up.wait(60)
        except subprocess.TimeoutExpired:
            up.kill()


@pytest.fixture(scope="module")
def flock(program, tmp_path_factory):
    with running(program, tmp_path_factory.mktemp("flock")) as directory:
        yield directory


@pytest.fixture
def client(flock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]))
    return starling.Client(flock, gpus=1)


def test_a_command(client):
    job = client.submit("echo out of $RANK; exit 0", options={"name": "echo"})
    assert job.result(timeout=60) == 0
    assert "out of 0" in job.logs()
    assert job.state()["phase"] == "finished" and job.state()["name"] == "echo" and job.done()
    assert client.job(job.id).id == job.id


def test_a_function(client):
    job = client.submit(add, 2, b=3)
    assert job.result(timeout=60) == 5
    assert "adding 2 3" in job.logs() and job.state()["name"] == "add"
    assert client.job(job.id[:12]).result() == 5  # as whoever comes back for it has it
    folders = os.listdir(".starling-jobs")
    with pytest.raises(ValueError, match="can never run here"):
        client.submit(add, 2, options={"gpus": 64})
    assert os.listdir(".starling-jobs") == folders


def test_a_gpu_type_that_is_not_there_is_told(client):
    with pytest.warns(UserWarning, match="type A9000, too, of which the data centre has none; it has V100"):
        job = client.submit("true", options={"gpu_type": "v100,A9000"})
    assert job.result(timeout=60) == 0
    with warnings.catch_warnings(), pytest.raises(UserWarning):
        warnings.simplefilter("error")
        client.submit(add, 1, options={"gpu_type": "v100,A9000"})
    assert not os.path.exists(".starling-jobs") or os.listdir(".starling-jobs") == []


def test_queues(client):
    tree = {"default": "all", "queues": [{"name": "all", "guaranteed": 0, "weight": 1, "most": 4}]}
    assert client.set_queues(tree)["tree"] == tree
    said = client.queues()
    assert said["tree"] == tree and said["version"] >= 1
    with pytest.raises(ValueError, match="none"):
        client.set_queues({"default": "none", "queues": []})
    assert client.set_queues({"queues": []})["tree"] == {"queues": []}


def test_map_and_as_completed(client):
    jobs = client.map(add, range(6), range(6))
    ended = list(starling.as_completed(jobs, timeout=120))
    assert {job.id for job in ended} == {job.id for job in jobs}
    assert [job.result() for job in jobs] == [0, 2, 4, 6, 8, 10]


def test_jobs_are_awaited(client):
    async def all_of_them():
        return await asyncio.gather(*client.map(add, range(3)))
    assert asyncio.run(asyncio.wait_for(all_of_them(), 120)) == [1, 2, 3]


def test_what_fails_says_why(client):
    with pytest.raises(starling.JobFailed, match="ValueError: so it is"):
        client.submit(fail, "so it is").result(timeout=60)
    with pytest.raises(starling.JobFailed, match="exit code 3") as failed:
        client.submit("echo on the way >&2; exit 3").result(timeout=60)
    assert failed.value.state["phase"] == "failed" and "on the way" in str(failed.value)


def test_cancel_and_wait(client):
    job = client.submit("sleep 300")
    with pytest.raises(TimeoutError):
        job.wait(timeout=0.5)
    assert job.explain()
    assert job.cancel()["phase"] == "cancelled"
    with pytest.raises(starling.JobFailed, match="cancelled"):
        job.result(timeout=10)


def test_threads_share_a_client(client):
    said = {}

    def one(i):
        said[i] = client.submit(f"exit {i % 2}").wait(timeout=60)["exit_code"]
    threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {0: 0, 1: 1, 2: 0, 3: 1}


def test_bad_input(client, tmp_path):
    with pytest.raises(ValueError, match="can never run here"):
        client.submit(["true"], options={"gpus": 64})
    with pytest.raises(ValueError, match="--gpus: 'many' is wrong"):
        client.submit(["true"], options={"gpus": "many"})
    with pytest.raises(TypeError, match="only functions take arguments"):
        client.submit(["true"], 1)
    with pytest.raises(LookupError):
        client.job("f" * 32)
    with pytest.raises((ValueError, LookupError, OSError), match="nowhere"):
        starling.Client(tmp_path / "nowhere")


def test_ctrl_c_ends_a_wait(client):
    job = client.submit("sleep 300")
    timer = threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        job.wait()
    assert time.monotonic() - begun < 5
    job.cancel()


def test_ctrl_c_ends_no_other_thread_s_wait(client, flock):
    job, other = client.submit("sleep 300"), starling.Client(flock).submit("sleep 3")
    ends = []
    thread = threading.Thread(target=lambda: ends.append(other.result(timeout=60)))
    thread.start()
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        job.wait()
    thread.join(60)
    assert ends == [0]
    job.cancel()


def test_ctrl_c_ends_a_question_without_an_answer(program, tmp_path):
    with running(program, tmp_path) as flock:
        pass
    client = starling.Client(flock)
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        client.submit(["true"])
    assert 0.5 < time.monotonic() - begun < 5
    begun = time.monotonic()
    with pytest.raises(TimeoutError):  # the next question is asked as ever
        client.submit(["true"])
    assert time.monotonic() - begun > 5
