"""A cluster with a console, and plain HTTP requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any

START_SECONDS = 120
STOP_SECONDS = 30
URL = re.compile(r"http://127\.0\.0\.1:(\d+)/#(\S+)")


class Cluster:
    """`cluster up --console` in a folder of its own. It ends by SIGINT to its pid."""

    def __init__(self, *options: str) -> None:
        command = program()
        self.folder = tempfile.mkdtemp(prefix="console-browser-")
        self._errors = open(os.path.join(self.folder, "cluster.err"), "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [command, "up", "--console", "--directory", os.path.join(self.folder, "cluster"),
             "--families", "1", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors,
            start_new_session=True)
        try:
            self.url, self.port, self.token = self._address()
        except BaseException:
            self.close()
            raise

    def _address(self) -> tuple[str, int, str]:
        """Reads the printed address. The output stays open, so that the cluster can print on."""
        output = self._process.stdout
        assert output
        os.set_blocking(output.fileno(), False)
        deadline = time.monotonic() + START_SECONDS
        text = ""
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                selector.select(1)
                data = output.read()
                text += (data or b"").decode(errors="replace")
                found = URL.search(text)
                if found:
                    return found.group(0), int(found.group(1)), found.group(2)
                if data == b"" or self._process.poll() is not None:
                    break
        self._errors.seek(0)
        raise AssertionError(f"no address was printed:\n{text}\n{self._errors.read()}")

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """A request with exactly these headers; `_` in their names stands for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        sent = {"Host": f"127.0.0.1:{self.port}"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = b"" if body is None else json.dumps(body).encode()
        if method == "POST":
            sent["Content-Length"] = str(len(data))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        try:
            response = connection.getresponse()
            text = b"" if response.getheader("Content-Type") == "text/event-stream" else response.read()
            return response.status, _json(text)
        finally:
            connection.close()


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def program() -> str:
    """The program `cluster`: PERMISSION_RELAY_BIN is it, or the folder in which it lies."""
    path = os.environ.get("PERMISSION_RELAY_BIN", "")
    if os.path.isdir(path):
        path = os.path.join(path, "cluster")
    if not os.access(path, os.X_OK):
        raise AssertionError("Set PERMISSION_RELAY_BIN to the program `cluster` or to its folder.")
    return path
