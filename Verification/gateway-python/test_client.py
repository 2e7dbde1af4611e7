"""The client against a gateway in memory: python3 -m unittest"""

from __future__ import annotations

import itertools
import json
import unittest
from unittest import mock

import permission_relay
from fixture import TOKEN, Gateway
from permission_relay import Device, Problem, handle


class ClientTests(unittest.TestCase):
    unix = False

    def setUp(self) -> None:
        self.gateway = Gateway(self.unix)
        self.addCleanup(self.gateway.close)
        self.device = Device(self.gateway.place, TOKEN + "\n")
        # Delays are recorded and take no time.
        patch = mock.patch.object(permission_relay.time, "sleep")
        self.sleep = patch.start()
        self.addCleanup(patch.stop)

    def numbers(self, count: int, after: int | None = None) -> list[int]:
        events = self.device.events(after)
        numbers = [event["id"] for event in itertools.islice(events, count)]
        events.close()
        return numbers

    def last_event_ids(self) -> list[str | None]:
        return [
            headers.get("Last-Event-ID")
            for _, path, headers, _ in self.gateway.requests if path == "/v1/events"]

    def test_a_cut_stream_resumes_after_the_last_whole_event(self) -> None:
        self.gateway.add("approve", "decline", "approve", "decline")
        self.gateway.cuts = [1, 0, 2]
        self.assertEqual(self.numbers(4), [1, 2, 3, 4])
        self.assertEqual(self.last_event_ids(), [None, "1", "1", "3"])

    def test_the_stream_starts_after_a_number(self) -> None:
        self.gateway.add("approve", "decline")
        self.assertEqual(self.numbers(1, after=1), [2])
        self.assertEqual(self.last_event_ids(), ["1"])

    def test_acknowledged_events_do_not_return(self) -> None:
        self.gateway.add("approve", "decline")
        self.assertEqual(self.numbers(1), [1])
        self.assertEqual(self.numbers(1), [1])
        self.assertEqual(self.device.acknowledge(1), 1)
        self.assertEqual(self.numbers(1), [2])

    def test_delays_double_up_to_a_limit_and_an_event_resets_them(self) -> None:
        self.gateway.add("approve")
        self.gateway.replies = [(0, None)] * 8 + [(503, None), (429, None)]
        self.gateway.cuts = [1]
        events = self.device.events()
        next(events)
        delays = [call.args[0] for call in self.sleep.call_args_list]
        self.assertEqual(delays[:4], [0.1, 0.2, 0.4, 0.8])
        self.assertEqual(delays[-2:], [10, 10])
        self.gateway.add("decline")
        next(events)
        self.assertEqual(self.sleep.call_args.args[0], 0.1)
        events.close()

    def test_a_refused_stream_is_a_problem(self) -> None:
        with self.assertRaises(Problem) as raised:
            next(Device(self.gateway.place, "wrong").events())
        self.assertEqual((raised.exception.status, raised.exception.number), (401, None))
        self.sleep.assert_not_called()

    def test_a_problem_has_number_title_and_detail(self) -> None:
        self.gateway.replies = [
            (422, {"title": "invalid age gates", "status": 422, "detail": "Give 13.", "number": 310})]
        with self.assertRaises(Problem) as raised:
            self.device.age_range([1, 2])
        problem = raised.exception
        self.assertEqual((problem.status, problem.number, problem.detail), (422, 310, "Give 13."))
        self.assertEqual(str(problem), "invalid age gates: Give 13.")

    def test_an_error_without_a_problem_object_is_a_problem(self) -> None:
        for body in (None, b"<html>", [1]):
            self.gateway.replies = [(500, body)]
            with self.assertRaises(Problem) as raised:
                self.device.status()
            self.assertEqual((raised.exception.status, raised.exception.number), (500, None))

    def test_a_lost_question_is_repeated_with_its_id(self) -> None:
        self.gateway.replies = [
            (0, None), (503, {"title": "away", "status": 503, "number": 420}),
            (200, {"outcome": "sent"})]
        self.assertEqual(
            self.device.ask({"people": [{"handle": handle("ada")}]}, manner="byMessage"),
            {"outcome": "sent"})
        bodies = [body for _, _, _, body in self.gateway.requests]
        self.assertEqual(len(bodies), 3)
        self.assertTrue(all(body == bodies[0] for body in bodies))
        self.assertEqual(bodies[0]["manner"], "byMessage")

    def test_calls_have_the_form_of_the_document(self) -> None:
        ada, bob = handle("ada"), handle("bob@example.com", "emailAddress")
        self.gateway.replies = [
            (200, {"known": [ada]}), (204, None), (200, {"events": [], "newest": 0}),
            (200, {"events": [], "newest": 0}), (200, {"rating": None}), (200, {"required": []}),
            (200, {"outcome": "acknowledged"}), (200, {"outcome": "declined"})]
        self.assertEqual(self.device.known([ada, bob]), [ada])
        self.device.abandon("a/b")
        self.device.feed()
        self.device.feed(after=3, limit=1, wait=2)
        self.assertIsNone(self.device.age_rating())
        self.device.age_features()
        self.assertTrue(self.device.acknowledge_update("New."))
        self.device.age_range([13], window="Chats")
        self.assertEqual(self.gateway.paths(), [
            "POST /v1/known-handles", "DELETE /v1/questions/a%2Fb", "GET /v1/feed?limit=100&wait=0",
            "GET /v1/feed?limit=1&wait=2&after=3", "GET /v1/age-rating", "GET /v1/age-features",
            "POST /v1/update-acknowledgment", "POST /v1/age-range"])
        self.assertEqual(
            [body for _, _, _, body in self.gateway.requests if body],
            [{"handles": [ada, bob]}, {"description": "New."}, {"gates": [13], "window": "Chats"}])
        for _, _, headers, body in self.gateway.requests:
            self.assertEqual(headers["Authorization"], f"Bearer {TOKEN}")
            self.assertEqual(headers.get("Content-Type"), "application/json" if body else None)


class UnixSocketTests(ClientTests):
    unix = True

    def test_the_host_is_local(self) -> None:
        self.device.acknowledge(0)
        self.assertEqual(self.gateway.requests[0][2]["Host"], "localhost")


if __name__ == "__main__":
    unittest.main()
