"""Measures a gateway beside a family of its own: measure.py PROGRAMS [SECONDS] [QUESTIONS]

PROGRAMS is the folder of a build, for example of `swift build -c release --show-bin-path`. Prints the
requests a second of look-ups of a known handle, and the time from a guardian's decision to the event
at the app's server and in the event stream. Clients, gateway and family share the machine.
"""

from __future__ import annotations

import json
import multiprocessing
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
from typing import Any, Callable

from permission_relay import Device, handle

APP = "example.landmarks"
# Seconds for each condition of the family's start and of an event's way.
LIMIT = 120


def percentiles(values: list[float]) -> str:
    values = sorted(values)
    return f"{values[len(values) // 2]:.2f} / {values[len(values) * 99 // 100]:.2f} ms"


def until(what: str, condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > end:
            sys.exit(f"waited {LIMIT} s for {what}")
        time.sleep(0.01)
    return found


class Arrivals:
    """The first time of each question's response, in milliseconds since 1970."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}

    def add(self, event: Any) -> None:
        if event["type"] == "response":
            self.times.setdefault(event["data"]["question"].upper(), time.time() * 1_000)


def receive(server: socket.socket, arrivals: Arrivals) -> None:
    """Accepts webhooks, each on its connection."""
    while True:
        connection = server.accept()[0]
        data = b""
        while True:
            head, separator, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if separator and length and len(body) >= int(length[1]):
                break
            data += connection.recv(65_536)
        arrivals.add(json.loads(body))
        connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        connection.close()


def look_up(place: Any, token: str, handles: int, seconds: float, results: Any) -> None:
    """Sends one look-up after another on one connection."""
    body = json.dumps({"handles": [handle("known") for _ in range(handles)]}).encode()
    request = (
        f"POST /v1/known-handles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    family = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    times = []
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.connect(place)
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            connection.sendall(request)
            data = b""
            while not (data.endswith(b"]}") and b"\r\n\r\n" in data):
                data += connection.recv(65_536)
            assert data.startswith(b"HTTP/1.1 200"), data
            times.append((time.perf_counter() - start) * 1_000)
    results.put(times)


def look_ups(name: str, place: Any, token: str, connections: int, handles: int, seconds: float) -> None:
    results: Any = multiprocessing.Queue()
    clients = [
        multiprocessing.Process(target=look_up, args=(place, token, handles, seconds, results))
        for _ in range(connections)]
    for client in clients:
        client.start()
    times = [each for _ in clients for each in results.get()]
    for client in clients:
        client.join()
    print(f"| {name}, {connections} connections, {handles} handles | {len(times) / seconds:,.0f} a second "
          f"| {percentiles(times)} |", flush=True)


def decisions(logs: pathlib.Path) -> dict[str, float]:
    """The time of each question's first answer, from the traces of the guardians' devices."""
    found: dict[str, float] = {}
    for log in logs.glob("parent-agent-*.log"):
        for line in log.read_text().splitlines():
            if '"step":"answer"' in line:
                step = json.loads(line)
                at = min(step["at"], found.get(step["question"], step["at"]))
                found[step["question"]] = at
    return found


def measure(programs: pathlib.Path, folder: pathlib.Path, seconds: float, questions: int,
            processes: list[subprocess.Popen[str]]) -> None:
    def start(name: str, *arguments: str) -> subprocess.Popen[str]:
        with open(folder / f"{name}.log", "w") as log:
            processes.append(subprocess.Popen(
                [programs / name, *arguments], stdout=subprocess.PIPE if name == "gateway" else log,
                stderr=log, text=True))
        return processes[-1]

    server = socket.create_server(("127.0.0.1", 0))
    hook = f"http://127.0.0.1:{server.getsockname()[1]}"
    (folder / "manifest.json").write_text(json.dumps({"webhook": hook}))
    cluster = folder / "cluster"
    start("cluster", "up", "--directory", str(cluster), "--families", "1", "--answer", "approve",
          "--app", f"{APP}=/bin/true", "--json")
    credential = cluster / f"agents/child-agent-1/app-1-3-{APP}.json"
    until("the device", credential.exists)
    gateway = start(
        "gateway", "--directory", str(folder / "gateway"), "--app", str(credential), "--allow", hook,
        "--manifest", f"{APP}={folder / 'manifest.json'}")
    assert gateway.stdout
    url = gateway.stdout.readline().split()[-1]
    token = (folder / f"gateway/token-{APP}").read_text().strip()
    device = Device(url, token)
    until("the gateway", lambda: device.status()["isCurrent"])

    webhooks, stream = Arrivals(), Arrivals()
    threading.Thread(target=receive, args=(server, webhooks), daemon=True).start()
    threading.Thread(
        target=lambda: [stream.add(event) for event in device.events(0)], daemon=True).start()
    asked = []
    for number in range(questions):
        name = f"person-{number}" if number else "known"
        asked.append(str(uuid.uuid4()).upper())
        device.ask({"people": [{"handle": handle(name)}]}, id=asked[-1])
        until("the events", lambda: asked[-1] in webhooks.times and asked[-1] in stream.times)
    until("the handle", lambda: device.known([handle("known")]))
    decided = decisions(cluster / "logs")
    print("| figure | rate | p50 / p99 |\n|---|---|---|")
    for name, arrivals in [("webhook", webhooks), ("event stream", stream)]:
        delays = [arrivals.times[question] - decided[question] for question in asked]
        print(f"| decision to {name}, {questions} questions | – | {percentiles(delays)} |")

    address = urllib.parse.urlsplit(url)
    places = [("unix socket", str(folder / "gateway/gateway.sock")),
              ("loopback", (address.hostname, address.port))]
    for name, place in places:
        for connections, handles in [(1, 1), (8, 1), (1, 100)]:
            look_ups(name, place, token, connections, handles, seconds)


def main(programs: str, seconds: str = "5", questions: str = "200") -> None:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gw-", dir="/tmp"))
    processes: list[subprocess.Popen[str]] = []
    try:
        measure(pathlib.Path(programs), folder, float(seconds), int(questions), processes)
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(LIMIT)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
