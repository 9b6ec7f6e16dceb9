#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a gateway with watchers and submissions, and says how long answers took.

  bench/gateway_load.py ADDRESS TOKEN [--watchers N] [--rate N] [--seconds S] [--connections C] [--post]

ADDRESS as http://127.0.0.1:8750; TOKEN of a user. Every submission is a PUT under an id of its own of a job that is
emulated for a second (--post: a POST without an id, for which the flock is asked once instead of twice), sent
when it is due, whether or not those before are answered: an answer's time counts from when it was due. Watchers read
all events. One JSON object at the end. The gateway needs --rate and --burst above N.
"""
import argparse, asyncio, json, os, resource, time
from urllib.parse import urlsplit

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("address")
parser.add_argument("token")
parser.add_argument("--watchers", type=int, default=1000)
parser.add_argument("--rate", type=int, default=1000)
parser.add_argument("--seconds", type=float, default=10)
parser.add_argument("--connections", type=int, default=64)
parser.add_argument("--post", action="store_true")
options = parser.parse_args()
place = urlsplit(options.address)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
heading = f"Host: {place.netloc}\r\nAuthorization: Bearer {options.token}\r\n"
body = b'{"duration_s": 1, "name": "load"}'
watched = {"bytes": 0, "events": 0, "open": 0, "broken": 0}
times, statuses = [], {}


async def watch():
    try:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(f"GET /v1/events HTTP/1.1\r\n{heading}\r\n".encode())
        first = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in first, first
        watched["open"] += 1
        while piece := await reader.read(1 << 20):
            watched["bytes"] += len(piece)
            watched["events"] += piece.count(b"\nevent: ")
    except (OSError, asyncio.IncompleteReadError, AssertionError):
        pass
    watched["broken"] += 1


async def submit(queue):
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    while (due := await queue.get()) is not None:
        where = "POST /v1/jobs" if options.post else f"PUT /v1/jobs/{os.urandom(16).hex()}"
        request = f"{where} HTTP/1.1\r\n{heading}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(request.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(answer.lower().split("content-length: ")[1].split("\r\n")[0])
        await reader.readexactly(length)
        status = answer.split(" ")[1]
        statuses[status] = statuses.get(status, 0) + 1
        times.append(time.monotonic() - due)


async def main():
    watchers = [asyncio.create_task(watch()) for _ in range(options.watchers)]
    while watched["open"] + watched["broken"] < options.watchers:
        await asyncio.sleep(0.05)
    queue = asyncio.Queue()
    workers = [asyncio.create_task(submit(queue)) for _ in range(options.connections)]
    begun = time.monotonic()
    sent = 0
    while (now := time.monotonic()) - begun < options.seconds:
        while sent < (now - begun) * options.rate:
            queue.put_nowait(begun + sent / options.rate)
            sent += 1
        await asyncio.sleep(0.001)
    for _ in workers:
        queue.put_nowait(None)
    await asyncio.gather(*workers)
    took = time.monotonic() - begun
    await asyncio.sleep(0.5)
    for task in watchers:
        task.cancel()
    times.sort()
    at = lambda part: round(1e3 * times[min(len(times) - 1, int(part * len(times)))], 2) if times else None
    print(json.dumps({"submitted": len(times), "per_s": round(len(times) / took, 1), "statuses": statuses, "p50_ms": at(0.5), "p90_ms": at(0.9),
                      "p99_ms": at(0.99), "max_ms": at(1), "watchers": watched["open"], "broken": watched["broken"],
                      "events_per_watcher": round(watched["events"] / max(1, watched["open"]), 1), "mib": round(watched["bytes"] / 2**20, 1)}))


asyncio.run(main())
