"""A relay and a family for tests: the other side of the protocol, from the same page."""

import os

from cryptography.hazmat.primitives.asymmetric import ed25519, x25519

import family_pb2 as wire
import formats
from model import CONVERSATION, FAMILY

NUMBER, CHAT = 7, CONVERSATION + 2
NOW = 1_700_000_000_000


class Person:
    def __init__(self, id, role, name):
        self.id, self.role, self.name = id, role, name
        self.signing = ed25519.Ed25519PrivateKey.generate()
        self.agreement = x25519.X25519PrivateKey.generate()

    @property
    def device(self):
        return wire.Device(
            id=self.id, person=self.id, public_key=bytes([self.id]) * 32,
            signing_key=formats.public_bytes(self.signing),
            agreement_key=formats.public_bytes(self.agreement))


class Log:
    """The family's events. `add` signs as the person, and hashes as the relay."""

    def __init__(self):
        self.rosa, self.emily, self.alex = (
            Person(1, 1, "Rosa"), Person(2, 3, "Emily"), Person(3, 2, "Alex"))
        self.events, self.heads, self.clock = [], {}, NOW
        self.former = b""
        self.key = os.urandom(32)
        self.add(self.rosa, FAMILY, roster_changed=self.roster(self.rosa, self.emily, self.alex))
        self.share(self.rosa, CHAT, self.key, self.rosa, self.emily, self.alex)

    def roster(self, *people):
        return wire.Roster(
            persons=[wire.Person(id=p.id, role=p.role, display_name=p.name) for p in people],
            devices=[p.device for p in people])

    def position(self, audience):
        seq, hash = self.heads.get(audience, (0, b""))
        return wire.ChainPosition(seq=seq, hash=hash)

    def id(self): return self.clock.to_bytes(6, "big") + os.urandom(10)

    def sign(self, person, event, question=None):
        kind = event.WhichOneof("body")
        body = getattr(event, kind)
        fields = formats.fields(NUMBER, kind, body, event.signature, question)
        event.signature.value = person.signing.sign(
            formats.signed(NUMBER, event.audience, event.command, event.signature, fields))

    def add(self, person, audience, question=None, heads=(), command=None, **body):
        self.clock += 1000
        event = wire.Event(
            seq=len(self.events) + 1, previous=self.heads.get(audience, (0, b""))[0],
            audience=audience, command=command or self.id(), device=person.id, at=self.clock,
            signature=wire.Signature(
                signer=person.id, family=self.position(FAMILY), heads=heads), **body)
        if audience != FAMILY:
            event.signature.audience.CopyFrom(self.position(audience))
        if "roster_changed" in body:
            event.signature.roster = self.former
        self.sign(person, event, question)
        if "roster_changed" in body:
            self.former = formats.roster_digest(NUMBER, event)
        return self.append(event)

    def append(self, event):
        before = self.heads.get(event.audience, (0, formats.NO_HASH))[1]
        event.hash = formats.chain_hash(NUMBER, before, event)
        self.heads[event.audience] = event.seq, event.hash
        self.events.append(event)
        return event

    def share(self, person, audience, key, *readers):
        binding = formats.wrap_binding(NUMBER, audience, formats.key_name(key))
        return self.add(person, audience, keys_shared=wire.KeyWraps(audience=audience, wraps=[
            wire.KeyWrap(key=formats.key_name(key), reader=p.device.agreement_key,
                         value=formats.wrap(p.device.agreement_key, binding, key))
            for p in readers]))

    def seal(self, command, **content):
        binding = formats.content_binding(NUMBER, CHAT, command)
        return formats.seal(self.key, binding, wire.Content(**content).SerializeToString())

    def text(self, person, text):
        command = self.id()
        content = self.seal(command, text=text)
        return self.add(person, CHAT, command=command,
                        posted=wire.ForPerson(person=2, content=content))
