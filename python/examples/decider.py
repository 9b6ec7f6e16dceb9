# SPDX-License-Identifier: Apache-2.0
"""A decider of one's own: a process that `--policy external` asks over a socket, in any language.

    flatc --python -o generated bus/decider/decider.fbs         (Debian: flatbuffers-compiler)
    pip install pyzmq flatbuffers
    PYTHONPATH=generated python python/examples/decider.py ipc://$HOME/decider/socket &
    starling sim --topology cluster.yaml --trace trace.csv --policy external:endpoint=ipc://$HOME/decider/socket,wait=yes

It starts the jobs that ask for the fewest GPUs first, each on the server with the fewest free GPUs that has enough.
"""
import sys

import flatbuffers
import zmq
from starling_decider import Advice, Decision, JobId, Kind, Message

VERSION = 1


def decide(ask):
    """[(id, GPUs)] to start."""
    free = [[s.Free(i) for i in range(s.FreeLength())] for s in map(ask.Servers, range(ask.ServersLength()))]
    waiting = sorted(map(ask.Waiting, range(ask.WaitingLength())), key=lambda job: job.Gpus())
    for job in waiting:
        if job.Blocked():
            continue
        servers = [gpus for gpus in free if len(gpus) >= job.Gpus()]
        if not servers:
            continue
        server = min(servers, key=len)
        yield (job.Id().Hi(), job.Id().Lo()), server[: job.Gpus()]
        del server[: job.Gpus()]


def advice(number, starts):
    """The frame of an advice."""
    to = flatbuffers.Builder(1024)
    decisions = []
    for (hi, lo), gpus in starts:
        Decision.StartGpusVector(to, len(gpus))
        for gpu in reversed(gpus):
            to.PrependUint32(gpu)
        placed = to.EndVector()
        Decision.Start(to)
        Decision.AddKind(to, Kind.Kind.start)
        Decision.AddJob(to, JobId.CreateJobId(to, hi, lo))
        Decision.AddGpus(to, placed)
        decisions.append(Decision.End(to))
    Advice.StartDecisionsVector(to, len(decisions))
    for decision in reversed(decisions):
        to.PrependUOffsetTRelative(decision)
    listed = to.EndVector()
    Advice.Start(to)
    Advice.AddNumber(to, number)
    Advice.AddDecisions(to, listed)
    said = Advice.End(to)
    Message.Start(to)
    Message.AddVersion(to, VERSION)
    Message.AddAdvice(to, said)
    to.Finish(Message.End(to), file_identifier=b"STRD")
    return bytes(to.Output())


def main(endpoint):
    socket = zmq.Context().socket(zmq.REP)
    socket.bind(endpoint)
    while True:
        message = Message.Message.GetRootAs(socket.recv(), 0)
        ask = message.Ask() if message.Version() == VERSION else None
        socket.send(advice(ask.Number(), decide(ask)) if ask else b"")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: decider.py ipc://PATH | tcp://127.0.0.1:PORT")
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        pass
