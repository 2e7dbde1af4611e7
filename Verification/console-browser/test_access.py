"""Only the page that was opened with the printed address has access."""

from __future__ import annotations

import http.server
import threading
import unittest
from typing import Any

from fixture import ConsoleTest

ATTACK = """<!doctype html><title>attack</title><script>
window.results = {};
const target = "http://127.0.0.1:%(port)d";
const kill = JSON.stringify({ process: "relay", act: "kill" });
const note = (name, promise) => promise.then(
  reply => { results[name] = reply.type === "opaque" ? "opaque" : reply.status; },
  () => { results[name] = "refused"; });
window.done = Promise.all([
  note("read", fetch(target + "/log?before=9", { credentials: "include" })),
  note("page", fetch(target + "/", { credentials: "include" })),
  note("json", fetch(target + "/act", { method: "POST", credentials: "include", body: kill,
    headers: { "Content-Type": "application/json", "X-Console": "1" } })),
  note("plain", fetch(target + "/act", { method: "POST", mode: "no-cors", credentials: "include", body: kill })),
  note("session", fetch(target + "/session", { method: "POST", mode: "no-cors", body: '{"token":"%(token)s"}' })),
  new Promise(done => { const socket = new WebSocket(target.replace("http", "ws") + "/events");
    socket.onopen = () => { results.socket = "open"; done(); };
    socket.onerror = () => { results.socket = "refused"; done(); }; }),
  new Promise(done => { const stream = new EventSource(target + "/events?language=en", { withCredentials: true });
    stream.onopen = () => { results.stream = "open"; done(); };
    stream.onerror = () => { results.stream = "refused"; stream.close(); done(); }; }),
]);
</script><form method="post" enctype="text/plain" action="http://127.0.0.1:%(port)d/act" target="frame">
<input name='{"process":"relay","act":"kill","x":"' value='"}'></form><iframe name="frame"></iframe>"""


class AccessTests(ConsoleTest):
    def test_a_page_of_another_origin_gets_nothing_and_changes_nothing(self) -> None:
        pid = self.family.pid("relay")
        page = self.context.new_page()
        page.goto(self._attack_page())
        page.evaluate("() => window.done")
        results = page.evaluate("() => window.results")
        for name in ("read", "page", "json", "socket", "stream"):
            self.assertEqual(results[name], "refused", name)
        page.evaluate("() => document.forms[0].submit()")
        page.wait_for_timeout(1000)
        self.assertEqual(self.family.pid("relay"), pid)
        self.family.wait_for_state("relay", "up")

    def _attack_page(self) -> str:
        text = ATTACK % {"port": self.cluster.port, "token": self.cluster.token}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    def test_requests_need_host_origin_header_and_cookie(self) -> None:
        cluster = self.cluster
        origin = f"http://127.0.0.1:{cluster.port}"
        cookie = "; ".join(f"{each['name']}={each['value']}" for each in self.context.cookies())
        whole = {"Origin": origin, "X_Console": "1", "Cookie": cookie, "Content_Type": "application/json"}
        act = {"process": "relay", "act": "nothing"}
        refused = [
            ("GET", "/", None, {"Host": "example.org"}),
            ("GET", "/log?before=9", None, {}),
            ("GET", "/events?language=en", None, {}),
            ("GET", "/past?at=1", None, {}),
            ("GET", "/log?before=9", None, {"Cookie": cookie, "Host": f"example.org:{cluster.port}"}),
            ("GET", "/log?before=9", None, {"Cookie": cookie, "Origin": "http://example.org"}),
            ("POST", "/session", {"token": "0" * len(cluster.token)}, {**whole, "Cookie": ""}),
            ("POST", "/act", act, {**whole, "Cookie": ""}),
            ("POST", "/act", act, {**whole, "Origin": "http://example.org"}),
            ("POST", "/act", act, {key: value for key, value in whole.items() if key != "Origin"}),
            ("POST", "/act", act, {key: value for key, value in whole.items() if key != "X_Console"}),
        ]
        for method, path, body, headers in refused:
            status, _ = cluster.request(method, path, body, **headers)
            self.assertEqual(status, 403, (method, path, headers))
        self.assertEqual(cluster.request("GET", "/log?before=9", None, Cookie=cookie)[0], 200)

    def test_the_token_leaves_the_address(self) -> None:
        self.assertNotIn("#", self.page.url)
        self.assertNotIn(self.cluster.token, self.page.content())
        stranger = self.new_context().new_page()
        stranger.goto(f"http://127.0.0.1:{self.cluster.port}/")
        stranger.locator(".banner.bad").wait_for()
        self.assertEqual(stranger.locator(".chats, .question-card, table.log").count(), 0)


if __name__ == "__main__":
    unittest.main()
