"""A small gateway in memory, for the tests of the client."""

from __future__ import annotations

import http.server
import json
import os
import socketserver
import tempfile
import threading
from typing import Any, Optional

TOKEN = "secret"


class Gateway:
    """Serves prepared events and replies, and records the requests."""

    def __init__(self, unix: bool = False) -> None:
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.events: list[dict[str, Any]] = []
        # The number of events after which each stream ends, a stream each; then none.
        self.cuts: list[Optional[int]] = []
        # Replies before the usual ones: status and body. A status of 0 cuts the connection.
        self.replies: list[tuple[int, Any]] = []
        self.acknowledged = 0
        self._folder = tempfile.TemporaryDirectory()
        handler = type("Handler", (_Handler,), {"gateway": self})
        if unix:
            self.place = os.path.join(self._folder.name, "gateway.sock")
            self._server: socketserver.BaseServer = _UnixServer(self.place, handler)
        else:
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            self.place = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def add(self, *choices: str) -> None:
        for choice in choices:
            number = len(self.events) + 1
            self.events.append(
                {"id": number, "type": "response", "time": "2026-11-24T17:00:00.000Z",
                 "app": "example.landmarks", "data": {"choice": {"id": choice}}})

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _, _ in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._folder.cleanup()


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class _Handler(http.server.BaseHTTPRequestHandler):
    gateway: Gateway

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass  # the client has closed its stream

    def do_GET(self) -> None:
        self._serve(None)

    def do_DELETE(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def address_string(self) -> str:
        return "client"

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self, body: Any) -> None:
        gateway = self.gateway
        gateway.requests.append((self.command, self.path, dict(self.headers.items()), body))
        if gateway.replies:
            status, reply = gateway.replies.pop(0)
            return self._reply(status, reply) if status else None
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self._reply(401, {"title": "Unauthorized", "status": 401})
        if self.path == "/v1/events":
            return self._stream()
        if self.path == "/v1/acknowledged":
            gateway.acknowledged = max(gateway.acknowledged, body["through"])
            return self._reply(200, {"acknowledged": gateway.acknowledged})
        self._reply(404, {"title": "Not Found", "status": 404})

    def _reply(self, status: int, reply: Any) -> None:
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode() if reply else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self) -> None:
        after = int(self.headers.get("Last-Event-ID", self.gateway.acknowledged))
        cut = self.gateway.cuts.pop(0) if self.gateway.cuts else None
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        events = [event for event in self.gateway.events if event["id"] > after]
        for event in events[:cut]:
            text = f"id: {event['id']}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n"
            self.wfile.write(b": still here\n\n" + text.encode())
        if cut is not None and len(events) > cut:
            # A cut in the middle of an event.
            self.wfile.write(f"id: {events[cut]['id']}\ndata: {{\"id\"".encode())
