"""Checks who may use a running gateway: check_access.py URL TOKEN-FILE

Requests of a browser's page, of another host name, without a token, of a wrong form or of a wrong
size are refused, and a refusal says nothing about the app.
"""

from __future__ import annotations

import http.client
import pathlib
import sys
import urllib.parse

TOO_LARGE = b'{"through":' + b" " * (4 << 20) + b"0}"


def main(url: str, path: str) -> None:
    address = urllib.parse.urlsplit(url)
    token = pathlib.Path(path).read_text().strip()
    bearer = {"Authorization": f"Bearer {token}"}
    json = {**bearer, "Content-Type": "application/json"}

    def status(method: str, target: str, headers: dict[str, str], body: bytes | None = None) -> int:
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        connection.request(method, target, body, headers)
        reply = connection.getresponse()
        text = reply.read()
        if reply.status >= 400:
            assert reply.getheader("Content-Type") == "application/problem+json", reply.status
            assert b"landmarks" not in text, text
        if reply.status == 405:
            assert reply.getheader("Allow") in ("GET", "POST", "DELETE")
        connection.close()
        return reply.status

    expected = [
        (200, "GET", "/v1/status", bearer, None),
        (200, "GET", "/v1/status", {**bearer, "Host": "localhost:1"}, None),
        (200, "GET", "/v1/openapi.json", {}, None),
        (401, "GET", "/v1/status", {}, None),
        (401, "GET", "/v1/events", {"Authorization": f"Bearer {token[:-1]}"}, None),
        (401, "GET", "/v1/status", {"Authorization": f"Bearer {token}x"}, None),
        (401, "GET", "/v1/status", {"Authorization": f"Basic {token}"}, None),
        (401, "GET", "/v1/nothing", {}, None),
        (403, "GET", "/v1/status", {**bearer, "Origin": "http://127.0.0.1"}, None),
        (403, "GET", "/v1/openapi.json", {"Origin": "null"}, None),
        (404, "GET", "/v1/nothing", bearer, None),
        (404, "DELETE", "/v1/questions/00000000-0000-0000-0000-000000000000", bearer, None),
        (405, "PUT", "/v1/status", bearer, b""),
        (405, "GET", "/v1/questions/00000000-0000-0000-0000-000000000000", bearer, None),
        (413, "POST", "/v1/acknowledged", json, TOO_LARGE),
        (415, "POST", "/v1/acknowledged", bearer, b'{"through":0}'),
        (421, "GET", "/v1/status", {**bearer, "Host": "example.com"}, None),
        (421, "GET", "/v1/status", {**bearer, "Host": "127.0.0.1.example.com"}, None),
        (422, "POST", "/v1/acknowledged", json, b'{"through":999999}'),
        (422, "POST", "/v1/acknowledged", json, b"{"),
        (422, "GET", "/v1/feed?after=-1", bearer, None),
        (422, "GET", "/v1/feed?limit=1&limit=2", bearer, None),
    ]
    for status_expected, method, target, headers, body in expected:
        found = status(method, target, headers, body)
        assert found == status_expected, (method, target, found, status_expected)
    print(f"{len(expected)} requests")


if __name__ == "__main__":
    main(*sys.argv[1:])
