"""The API of a child's device over HTTP, for an app in Python: one file, standard library only.

docs/DeviceAPI.md has the calls, the events and the errors. Values are the JSON objects of that page.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.parse
import uuid
from typing import Any, Iterator, Optional, Sequence

Object = dict[str, Any]

# Seconds without a byte after which an event stream counts as lost. The gateway writes every 15 s.
SILENCE = 40.0
# Seconds for a call that waits for no person.
CALL = 30.0
# The longest delay in seconds before the next attempt to connect. Delays double from 0.1 s.
LONGEST_DELAY = 10.0


class Problem(Exception):
    """A refusal. `number` is that of docs/Problems.md, or None for a pure HTTP error."""

    def __init__(self, status: int, number: Optional[int], title: str, detail: str) -> None:
        super().__init__(f"{title}: {detail}" if detail else title)
        self.status, self.number, self.title, self.detail = status, number, title, detail


def handle(value: str, kind: str = "custom") -> Object:
    """A handle. `kind` is phoneNumber, emailAddress or custom."""
    return {"kind": kind, "value": value}


class _Retry:
    """Passes over the failures of its block that an attempt later may not have, and delays it."""

    failures = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> bool:
        if isinstance(error, Problem):
            return error.status in (429, 503)
        return isinstance(error, (OSError, http.client.HTTPException))

    def wait(self) -> None:
        self.failures += 1
        time.sleep(min(LONGEST_DELAY, 0.1 * 2 ** min(self.failures - 1, 16)))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Device:
    """The device of one app. Each call has its own connection, so threads may share a device."""

    def __init__(self, url_or_socket: str, token: str) -> None:
        """`http://127.0.0.1:PORT`, or the path of the gateway's socket; and the app's token."""
        self._place, self._token = url_or_socket, token.strip()

    def status(self) -> Object:
        """The app, whether the device is current, and the numbers of the events."""
        return self._call("GET", "/v1/status")

    def known(self, handles: Sequence[Object]) -> list[Object]:
        """Returns the handles that are known, as they were passed."""
        return self._call("POST", "/v1/known-handles", {"handles": list(handles)})["known"]

    def ask(self, about: Object, id: Optional[str] = None, **options: Any) -> Object:
        """Asks a question. Waits as long as the child takes; a lost connection repeats the call.

        `about` is {"people": [...]} or {"update": "..."}. Options: choices, defaultChoice,
        expiration, manner, window. The response arrives as an event.
        """
        body = {"id": id or str(uuid.uuid4()), "about": about, **options}
        # The id makes the repetition harmless: the device sends one question.
        retry = _Retry()
        while True:
            with retry:
                return self._call("POST", "/v1/questions", body, timeout=None)
            retry.wait()

    def abandon(self, id: str) -> None:
        """Ends the waiting requests of a question. A response may still follow."""
        self._call("DELETE", f"/v1/questions/{urllib.parse.quote(id, safe='')}")

    def feed(self, after: Optional[int] = None, limit: int = 100, wait: int = 0) -> Object:
        """Returns a page of events after a number, by default the last acknowledged one."""
        query = {"limit": limit, "wait": wait, **({} if after is None else {"after": after})}
        path = "/v1/feed?" + urllib.parse.urlencode(query)
        return self._call("GET", path, timeout=CALL + wait)

    def acknowledge(self, through: int) -> int:
        """States that every event up to this number is handled. Returns the acknowledged number."""
        return self._call("POST", "/v1/acknowledged", {"through": through})["acknowledged"]

    def age_range(self, gates: Sequence[int], window: Optional[str] = None) -> Object:
        """Requests the age range for one to three gates. Waits for the person."""
        body = {"gates": list(gates), **({} if window is None else {"window": window})}
        return self._call("POST", "/v1/age-range", body, timeout=None)

    def age_features(self) -> Object:
        """What the law requires of the app for this person."""
        return self._call("GET", "/v1/age-features")

    def age_rating(self) -> Optional[int]:
        """The app's age rating, or None."""
        return self._call("GET", "/v1/age-rating")["rating"]

    def acknowledge_update(self, description: str, window: Optional[str] = None) -> bool:
        """Shows an adult a significant update. Returns whether the person acknowledged it."""
        body = {"description": description, **({} if window is None else {"window": window})}
        reply = self._call("POST", "/v1/update-acknowledgment", body, timeout=None)
        return reply["outcome"] == "acknowledged"

    def events(self, last_event_id: Optional[int] = None) -> Iterator[Object]:
        """Yields the events after a number, by default after the last acknowledged one.

        After a lost connection the generator connects again and resumes after the last event that
        it yielded. It never acknowledges.
        """
        retry = _Retry()
        while True:
            with retry:
                for event in self._stream(last_event_id):
                    retry.failures, last_event_id = 0, event["id"]
                    yield event
            retry.wait()

    def _stream(self, last_event_id: Optional[int]) -> Iterator[Object]:
        headers = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        headers["Accept"] = "text/event-stream"
        connection, response = self._send("GET", "/v1/events", None, headers, SILENCE)
        data: list[str] = []
        try:
            # The end of the stream cuts an event without its blank line: the next stream has it.
            while line := response.readline():
                text = line.decode().rstrip("\r\n")
                field, _, value = text.partition(":")
                if field == "data":
                    data.append(value.removeprefix(" "))
                elif not text and data:
                    yield json.loads("\n".join(data))
                    data = []
        finally:
            connection.close()

    def _call(
        self, method: str, path: str, body: Optional[Object] = None, timeout: Optional[float] = CALL
    ) -> Any:
        connection, response = self._send(method, path, body, {}, timeout)
        try:
            data = response.read()
            return json.loads(data) if data else None
        finally:
            connection.close()

    def _send(
        self, method: str, path: str, body: Optional[Object], headers: dict[str, str],
        timeout: Optional[float],
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        headers = {"Authorization": f"Bearer {self._token}", **headers}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        connection = self._connection(timeout)
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            if response.status >= 300:
                raise _problem(response)
            return connection, response
        except BaseException:
            connection.close()
            raise

    def _connection(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        if not self._place.startswith("http://"):
            return _UnixConnection(self._place, timeout)
        return http.client.HTTPConnection(
            urllib.parse.urlsplit(self._place).netloc, timeout=timeout)


def _problem(response: http.client.HTTPResponse) -> Problem:
    try:
        text = json.loads(response.read())
    except ValueError:
        text = None
    if not isinstance(text, dict):
        text = {}
    return Problem(
        response.status, text.get("number"), text.get("title") or response.reason,
        text.get("detail") or "")
