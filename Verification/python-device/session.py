"""The device's session with the relay: attach, fetch, acknowledge, broadcasts and commands."""

import os
import sys
import time
from dataclasses import dataclass
from typing import Callable

import family_pb2 as wire
import formats
import relay_pb2
from family import Family
from model import CONVERSATION, FAMILY, Gap, OtherHistory, readers

PING, PONG, LOST_COMMAND = 15, 5, 30  # Seconds.
FIRST_RETRY, LAST_RETRY = 1, 30
OUTBOX, TEXT = 1024, 4096
FORKED, STALE, TAKEN_ID, EARLY_ID, OVERLOADED = 210, 409, 416, 417, 500


class Refused(Exception):
    """The relay refuses the device, or the device refuses a command."""


def trace(*words): print(*words, file=sys.stderr, flush=True)


@dataclass
class Retry:
    """A request that the device sends again, under a new request id, until its reply."""
    build: Callable
    due: float
    delay: float = FIRST_RETRY
    id: int = 0


class Session:
    """A device without sockets: replies, broadcasts and time go in, requests go out by `send`.

    `renew` replaces the connections, and so drops what waits in them for an absent relay.
    """

    def __init__(self, credential, store, send, renew, now=time.monotonic, clock=time.time):
        self.credential, self.store, self.send, self.renew = credential, store, send, renew
        self.now = now
        self.clock = lambda: int(1000 * clock())
        self.family = Family(credential.family, credential.organizer_key, credential.agreement)
        for encoded in store.events():
            self.family.read(encoded)
        self.channels = {}  # By audience. Empty: not attached.
        self.attachments = 0  # Each one asks for the subscriptions again.
        self.retries = {}  # By name: attach, command, and fetch with its audience.
        self.settled = {}  # By command id: None, or the problem of a final refusal.
        self.request_id = self.newest_id = 0
        self.relay_clock = self.clock(), now()
        self.pinged, self.next_ping = None, 0.0
        self.attach()

    # Requests

    def request(self, **fields):
        self.request_id += 1
        return relay_pb2.Request(version=1, family=self.credential.family,
                                 device=self.credential.device, id=self.request_id, **fields)

    def retry(self, name, build): self.retries.setdefault(name, Retry(build, self.now()))

    def tick(self):
        """Sends what is due. Returns the seconds until the next call."""
        now = self.now()
        if self.pinged is not None and now >= self.pinged + PONG:
            self.channels, self.retries, self.pinged = {}, {}, None
            self.renew()
            self.attach()
        elif self.channels and now >= self.next_ping:
            self.pinged, self.next_ping = now, now + PING
            self.send(self.request(ping=relay_pb2.Empty()))
        if self.channels and not self.retries and self.store.outbox():
            self.retry("command", self.build_command)
        for name, retry in list(self.retries.items()):
            if retry.due <= now:
                if name == "attach" and retry.id:
                    self.renew()
                request = retry.build()
                retry.id, retry.due = request.id, now + retry.delay
                retry.delay = min(2 * retry.delay, LAST_RETRY)
                self.send(request)
        return max(0.0, min([retry.due for retry in self.retries.values()] + [now + 1]) - now)

    def cursors(self):
        # Standard output is the screen of this device, so each event is read at once.
        heads = [(audience, self.family.head(audience)[0]) for audience in self.family.chains]
        return relay_pb2.Cursors(cursors=[
            relay_pb2.Cursor(audience=audience, delivered=seq, read=seq)
            for audience, seq in sorted(heads) if seq])

    def attach(self):
        self.retry("attach", lambda: self.request(
            attach=self.cursors(), **{"pass": self.store.newest_pass()}))

    def fetch(self, audience):
        self.retry(f"fetch {audience}", lambda: self.request(fetch=relay_pb2.Fetch(
            audience=audience, after=self.family.head(audience)[0])))

    # Replies

    def on_reply(self, encoded):
        reply = relay_pb2.Reply.FromString(encoded)
        self.pinged = None
        match reply.WhichOneof("body"):
            case "attached":
                self.on_attached(reply)
            case "page":
                self.on_page(reply.page)
            case "accepted" if "command" in self.retries:
                # A relay can confirm a command and lose it. The command's event settles it.
                self.retries["command"].due = self.now() + LOST_COMMAND
            case "refused":
                self.on_refused(reply.refused.command_id, reply.refused.problem)
            case "failed":
                names = [name for name, retry in self.retries.items() if retry.id == reply.id]
                self.on_failed(names[0] if names else "ping", reply.failed)

    def on_failed(self, name, problem):
        trace("failed", name, problem.code, "retry after", problem.retry_after)
        if problem.code < OVERLOADED:
            raise Refused(f"{name}: problem {problem.code}")
        self.wait(name, problem)

    def wait(self, name, problem):
        """Postpones a retry to the relay's retry time, if that is later."""
        if retry := self.retries.get(name):
            retry.due = max(retry.due, self.now() + problem.retry_after / 1000)

    def on_attached(self, reply):
        self.retries.pop("attach", None)
        self.channels = {channel.audience: channel for channel in reply.attached.channels}
        self.attachments += 1
        self.inbox = reply.inbox
        self.relay_clock, self.next_ping = (reply.attached.at, self.now()), self.now() + PING
        self.store.keep_pass(getattr(reply, "pass"))
        trace("attached", *sorted(self.channels))
        for audience, channel in self.channels.items():
            seq = self.family.head(audience)[0]
            if channel.head > seq:
                self.fetch(audience)
            elif channel.head and (
                    self.family.chains[audience].get(channel.head) != channel.hash):
                raise OtherHistory(f"the relay's head of audience {audience}")

    def on_page(self, page):
        self.retries.pop(f"fetch {page.audience}", None)
        trace("page", page.audience, "after", self.family.head(page.audience)[0],
              "events", len(page.events))
        self.read(page.events)
        if page.more:
            self.fetch(page.audience)

    def read(self, events):
        """Reads events in order. They are durable before the acknowledgement leaves."""
        has_roster = False
        self.store.db.execute("BEGIN")
        try:
            for encoded in events:
                if event := self.family.read(encoded):
                    self.store.add_event(event, encoded)
                    has_roster |= event.HasField("roster_changed")
                    if (self.credential.device, event.command) in self.family.commands:
                        self.settle(event.command)
        finally:
            self.store.db.execute("COMMIT")
        self.send(self.request(acknowledge=self.cursors()))
        if has_roster:
            self.attach()  # The new roster may change this device's audiences.

    # Broadcasts

    def topics(self):
        return {self.inbox[:3]} if self.channels else set()

    def on_broadcast(self, inbox, frame):
        topic, sealed = formats.broadcast_parts(frame)
        channel = next((c for c in self.channels.values() if c.topic == topic), None)
        plain = formats.open_box(channel.key, sealed, topic) if channel else None
        if plain is None:
            return
        broadcast = relay_pb2.Broadcast.FromString(plain)
        if broadcast.HasField("event"):
            trace("broadcast", channel.audience)
            try:
                self.read([broadcast.event])
            except Gap:
                self.fetch(channel.audience)
        elif broadcast.head.seq > self.family.head(broadcast.head.audience)[0]:
            self.fetch(broadcast.head.audience)

    # Commands

    def relay_time(self):
        at, then = self.relay_clock
        return at + int(1000 * (self.now() - then))

    def new_id(self):
        """48 bits of time, after own ids and others' statements, and 80 random bits."""
        later = max(self.family.newest_statement, self.newest_id) + 1
        self.newest_id = max(min(self.clock(), self.relay_time()), later)
        return self.newest_id.to_bytes(6, "big") + os.urandom(10)

    def post(self, child, text):
        """Puts a text into the outbox, not yet sealed. Returns the command's id."""
        if not 1 <= len(text.encode()) <= TEXT:
            raise Refused("a text without or with more than 4,096 bytes")
        if len(self.store.outbox()) >= OUTBOX:
            raise Refused("a command, because the outbox is full")
        family = self.family
        if family.agreement_key not in {
                device.agreement_key for device in readers(family.roster(), CONVERSATION + child)}:
            raise Refused("a text in a conversation that this device does not read")
        id, content = self.new_id(), wire.Content(text=text).SerializeToString()
        self.store.add_command(
            id, relay_pb2.Command(post=wire.ForPerson(person=child, content=content)))
        return id

    def build_command(self):
        """The oldest command, sealed and signed with what this device knows at this moment."""
        _, id, command = self.store.outbox()[0]
        if command.HasField("share_keys"):
            return self.sign(id, command, command.share_keys.audience, "keys_shared")
        audience = CONVERSATION + command.post.person
        key = self.family.sealing_key(audience, self.relay_time())
        if key is None:
            self.share_new_key(audience)
            return self.build_command()
        binding = formats.content_binding(self.credential.family, audience, id)
        command.post.content = formats.seal(key, binding, command.post.content)
        return self.sign(id, command, audience, "posted")

    def share_new_key(self, audience):
        """Puts a new key for all readers, this device included, before the other commands."""
        key = os.urandom(32)
        binding = formats.wrap_binding(self.credential.family, audience, formats.key_name(key))
        wraps = [wire.KeyWrap(key=formats.key_name(key), reader=device.agreement_key,
                              value=formats.wrap(device.agreement_key, binding, key))
                 for device in readers(self.family.roster(), audience)]
        command = relay_pb2.Command(share_keys=wire.KeyWraps(audience=audience, wraps=wraps))
        self.store.add_command(self.new_id(), command, is_first=True)

    def sign(self, id, command, audience, kind):
        signature = wire.Signature(
            signer=self.credential.device, family=self.family.position(FAMILY),
            audience=self.family.position(audience))
        body = getattr(command, command.WhichOneof("body"))
        signature.value = self.credential.signing.sign(formats.signed(
            self.credential.family, audience, id, signature,
            formats.fields(self.credential.family, kind, body, signature)))
        trace("send", kind, id.hex())
        return self.request(command_id=id, command=command, signature=signature)

    def on_refused(self, id, problem):
        trace("refused", id.hex(), problem.code, "retry after", problem.retry_after)
        found = [row for row in self.store.outbox() if row[1] == id]
        if not found:
            return
        place, _, command = found[0]
        if problem.code in (TAKEN_ID, EARLY_ID):
            if problem.relay_time:
                self.relay_clock, self.newest_id = (problem.relay_time, self.now()), 0
            self.store.change_id(place, self.new_id())
        elif problem.code == STALE:
            for audience in self.channels:
                self.fetch(audience)
        elif problem.code == FORKED:
            self.attach()  # The reply's heads show which audience differs.
        elif problem.code >= OVERLOADED:
            self.wait("command", problem)
        else:
            self.settle(id, problem.code)
            if command.HasField("share_keys"):
                # A new key would be refused, too, so the command that needs it fails.
                self.settle(self.store.outbox()[0][1], problem.code)

    def settle(self, id, problem=None):
        if self.store.remove_command(id):
            trace("settled", id.hex(), problem or "")
            self.settled[id] = problem
            self.retries.pop("command", None)
