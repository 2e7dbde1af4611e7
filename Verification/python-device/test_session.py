"""Which requests this device sends, and when."""

import sqlite3
import tempfile
import unittest
from types import SimpleNamespace

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import family_pb2 as wire
import relay_pb2
import session
from files import Store
from fixture import CHAT, NUMBER, Log
from model import FAMILY


class Relay:
    """A relay of one family that keeps each request, and answers when a test wants it to."""

    def __init__(self, log):
        self.log, self.requests, self.time, self.renewals = log, [], 100.0, 0

    def open(self, folder):
        credential = SimpleNamespace(
            family=NUMBER, device=3, person=3, organizer_key=self.log.rosa.device.signing_key,
            agreement=self.log.alex.agreement, signing=self.log.alex.signing)
        self.device = session.Session(
            credential, Store(folder), self.requests.append, self.renew,
            now=lambda: self.time, clock=lambda: self.log.clock / 1000)
        return self.device

    def renew(self): self.renewals += 1

    def sent(self, kind):
        return [r for r in self.requests if r.WhichOneof("body") == kind]

    def reply(self, request, **body):
        self.device.on_reply(relay_pb2.Reply(
            version=1, family=NUMBER, device=3, id=request.id, **body).SerializeToString())

    def attached(self):
        return relay_pb2.Attached(at=self.log.clock, channels=[
            relay_pb2.Channel(audience=audience, head=seq, hash=hash, topic=bytes([audience % 251]),
                              key=bytes(32))
            for audience, (seq, hash) in self.log.heads.items()])

    def page(self, fetch):
        events = [e.SerializeToString() for e in self.log.events
                  if e.audience == fetch.audience and e.seq > fetch.after]
        return relay_pb2.Page(audience=fetch.audience, events=events)

    def serve(self, commands=False):
        """Answers every request until the device sends no further one."""
        while True:
            self.device.tick()
            waiting, self.requests[:] = list(self.requests), []
            for request in waiting:
                match request.WhichOneof("body"):
                    case "attach":
                        self.reply(request, attached=self.attached(), **{"pass": b"pass"})
                    case "fetch":
                        self.reply(request, page=self.page(request.fetch))
                    case "command":
                        self.requests.append(request)
            if not waiting or self.sent("command"):
                return waiting


class DeviceTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = Log()
        self.relay = Relay(self.log)
        self.device = self.relay.open(self.folder.name)
        session.trace = lambda *words: None

    def tick(self, seconds=0.0):
        """The requests that the device sends after these seconds."""
        self.relay.time += seconds
        self.relay.requests.clear()
        self.device.tick()
        return list(self.relay.requests)

    def commands(self, seconds=0.0):
        return [request for request in self.tick(seconds) if request.command_id]

    def test_a_second_run_attaches_with_its_cursors_and_its_pass(self):
        self.log.text(self.log.emily, "Hello.")
        self.relay.serve()
        self.log.text(self.log.emily, "Are you there?")
        self.device.store.db.close()
        device = self.relay.open(self.folder.name)
        device.tick()
        attach = self.relay.sent("attach")[0]
        self.assertEqual([(c.audience, c.delivered) for c in attach.attach.cursors],
                         [(FAMILY, 1), (CHAT, 3)])
        self.assertEqual(getattr(attach, "pass"), b"pass")
        self.relay.requests.clear()
        self.relay.reply(attach, attached=self.relay.attached())
        device.tick()
        self.assertEqual([r.fetch.after for r in self.relay.sent("fetch")], [3])

    def test_attach_is_repeated_after_1_2_and_4_seconds_up_to_30(self):
        self.assertEqual(len(self.tick()), 1)
        for delay in (1, 2, 4, 8, 16, 30, 30):
            self.assertEqual(self.tick(delay - 0.5), [])
            self.assertEqual(len(self.tick(0.5)), 1)
        self.assertEqual(self.relay.renewals, 7)

    def test_a_command_keeps_its_id_until_its_own_event(self):
        self.relay.serve()
        id = self.device.post(2, "Six o'clock.")
        first = self.tick()[0]
        second = self.tick(1)[0]
        self.assertEqual((first.command_id, second.command_id), (id, id))
        self.assertNotEqual(first.id, second.id)
        self.relay.reply(second, accepted=relay_pb2.Accepted(command_id=id, seq=3))
        self.assertEqual(self.commands(session.LOST_COMMAND - 1), [])
        self.assertEqual([r.command_id for r in self.commands(1)], [id])
        event = self.event_of(first)
        self.device.read([event])
        self.assertEqual(self.device.settled, {id: None})
        self.assertEqual([(line.person, line.text) for line in self.device.family.lines[2]],
                         [(3, "Six o'clock.")])
        self.assertEqual(self.commands(100), [])

    def event_of(self, request):
        self.log.clock += 1
        return self.log.append(wire.Event(
            seq=len(self.log.events) + 1, previous=self.log.heads[CHAT][0], audience=CHAT,
            command=request.command_id, device=3, at=self.log.clock,
            posted=request.command.post, signature=request.signature)).SerializeToString()

    def test_a_retry_time_is_honoured_and_a_final_refusal_ends_the_command(self):
        self.relay.serve()
        id = self.device.post(2, "Six o'clock.")
        request = self.tick()[0]
        self.refuse(request, code=502, retry_after=7000)
        self.assertEqual(self.commands(6.9), [])
        request = self.commands(0.1)[0]
        self.assertEqual(request.command_id, id)
        self.refuse(request, code=201)
        self.assertEqual(self.device.settled, {id: 201})
        self.assertEqual(self.commands(10), [])

    def refuse(self, request, **problem):
        self.relay.reply(request, refused=relay_pb2.Refused(
            command_id=request.command_id, problem=relay_pb2.Problem(**problem)))

    def test_a_stale_command_is_signed_again_with_the_present_heads(self):
        self.relay.serve()
        self.device.post(2, "Six o'clock.")
        request = self.tick()[0]
        self.log.text(self.log.emily, "First.")
        self.refuse(request, code=409)
        self.relay.serve()
        self.relay.time += 1
        self.relay.serve()
        again = self.relay.sent("command")[-1]
        self.assertEqual(again.command_id, request.command_id)
        self.assertEqual((request.signature.audience.seq, again.signature.audience.seq), (2, 3))

    def test_an_id_ahead_of_the_relays_clock_becomes_one_of_its_time(self):
        self.relay.serve()
        id = self.device.post(2, "Six o'clock.")
        self.refuse(self.tick()[0], code=417, relay_time=self.log.clock - 3_600_000)
        again = self.tick(1)[0].command_id
        self.assertNotEqual(again, id)
        self.assertLess(int.from_bytes(again[:6], "big"), self.log.clock - 3_000_000)

    def test_a_device_without_a_key_shares_one_first(self):
        self.log.events.pop()
        self.log.heads.pop(CHAT)
        self.relay.serve()
        self.device.post(2, "Hello.")
        share = self.tick()[0]
        self.assertEqual(len(share.command.share_keys.wraps), 3)
        event = self.log.append(wire.Event(
            seq=2, audience=CHAT, command=share.command_id, device=3, at=self.log.clock,
            keys_shared=share.command.share_keys, signature=share.signature))
        self.device.read([event.SerializeToString()])
        self.assertEqual([r.command.WhichOneof("body") for r in self.commands()], ["post"])

    def test_a_refused_key_share_ends_the_command_that_needs_the_key(self):
        self.log.events.pop()
        self.log.heads.pop(CHAT)
        self.relay.serve()
        id = self.device.post(2, "Hello.")
        self.refuse(self.tick()[0], code=221)
        self.assertEqual(self.device.settled[id], 221)
        self.assertEqual(self.commands(60), [])
        with self.assertRaises(session.Refused):
            self.device.post(1, "To a conversation without a child.")

    def test_a_store_has_one_user(self):
        with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
            Store(self.folder.name)

    def test_a_broadcast_is_read_and_a_gap_is_fetched(self):
        self.relay.serve()
        for text in "Hello.", "Are you there?", "Hm.":
            self.log.text(self.log.emily, text)
        first, second, third = self.log.events[-3:]
        self.broadcast(first)
        self.assertEqual(self.device.family.head(CHAT)[0], first.seq)
        self.broadcast(third)
        self.assertEqual([r.fetch.after for r in self.tick()], [first.seq])
        self.broadcast(second, key=bytes(31) + b"x")  # Another key: the frame does not open.
        self.assertEqual(self.device.family.head(CHAT)[0], first.seq)

    def broadcast(self, event, key=bytes(32)):
        plain = relay_pb2.Broadcast(version=1, event=event.SerializeToString())
        topic, nonce = self.device.channels[CHAT].topic, bytes(12)
        box = AESGCM(key).encrypt(nonce, plain.SerializeToString(), topic)
        self.device.on_broadcast(bytes(8), bytes([len(topic)]) + topic + nonce + box)

    def test_a_forged_event_under_a_commands_id_does_not_settle_the_command(self):
        self.relay.serve()
        id = self.device.post(2, "Six o'clock.")
        request = self.commands()[0]
        request.signature.value = bytes(64)
        self.device.read([self.event_of(request)])
        self.assertEqual(self.device.settled, {})
        self.assertEqual([r.command_id for r in self.commands(1)], [id])

    def test_a_silent_relay_is_attached_again_after_a_ping(self):
        self.relay.serve()
        self.assertEqual([r.WhichOneof("body") for r in self.tick(15)], ["ping"])
        self.assertEqual(self.tick(4.9), [])
        self.assertEqual([r.WhichOneof("body") for r in self.tick(0.1)], ["attach"])


if __name__ == "__main__":
    unittest.main()
