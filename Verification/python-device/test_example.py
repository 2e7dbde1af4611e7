"""The blocks of docs/ProtocolExample.md, computed and read by this device."""

import re
import unittest
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ed25519, x25519

import family_pb2 as wire
import formats
import relay_pb2
from model import CONVERSATION

PAGE = Path(__file__).resolve().parents[2] / "docs/ProtocolExample.md"
BLOCKS = {
    name: bytes.fromhex(" ".join(line.split("#")[0] for line in lines.splitlines()))
    for name, lines in re.findall(r"```hex ([\w-]+)\n(.*?)```", PAGE.read_text(), re.DOTALL)}
FAMILY, CHAT = 7, CONVERSATION + 2
CONTENT_KEY = bytes([0x33]) * 32
EMILY_SIGNING = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([0x21]) * 32)
EMILY_AGREEMENT = x25519.X25519PrivateKey.from_private_bytes(bytes([0x22]) * 32)


def device(number, curve, signing, agreement):
    return wire.Device(
        id=number, person=number, public_key=curve,
        signing_key=formats.public_bytes(ed25519.Ed25519PrivateKey.from_private_bytes(signing)),
        agreement_key=formats.public_bytes(
            x25519.X25519PrivateKey.from_private_bytes(agreement)))


class ExampleTests(unittest.TestCase):
    def setUp(self):
        self.event = wire.Event.FromString(BLOCKS["event"])

    def test_the_messages_encode_to_the_bytes_of_the_page(self):
        cursor = relay_pb2.Cursor(audience=CHAT, delivered=4, read=2)
        attach = relay_pb2.Request(
            version=1, family=FAMILY, device=2, id=1, attach=relay_pb2.Cursors(cursors=[cursor]))
        self.assertEqual(attach.SerializeToString(), BLOCKS["attach"])
        fetch = relay_pb2.Request(version=1, family=FAMILY, device=2, id=4,
                                  fetch=relay_pb2.Fetch(audience=CHAT, after=4))
        self.assertEqual(fetch.SerializeToString(), BLOCKS["fetch"])
        for name, message in [("ask", relay_pb2.Request), ("join", relay_pb2.Request),
                              ("attached", relay_pb2.Reply), ("refused", relay_pb2.Reply),
                              ("event", wire.Event), ("broadcast", relay_pb2.Broadcast)]:
            self.assertEqual(message.FromString(BLOCKS[name]).SerializeToString(), BLOCKS[name])

    def test_the_signed_bytes_of_question_roster_and_join_request(self):
        event = self.event
        fields = formats.fields(FAMILY, "asked", event.asked, event.signature)
        signed = formats.signed(FAMILY, CHAT, event.command, event.signature, fields)
        self.assertEqual(signed, BLOCKS["signed-question"])
        self.assertEqual(EMILY_SIGNING.sign(signed), event.signature.value)
        self.assertTrue(formats.is_signed_by(
            formats.public_bytes(EMILY_SIGNING), signed, event.signature.value))
        roster = self.first_roster()
        fields = formats.fields(FAMILY, "roster_changed", roster.roster_changed, roster.signature)
        self.assertEqual(
            formats.signed(FAMILY, 0, roster.command, roster.signature, fields),
            BLOCKS["signed-roster"])
        self.assertEqual(
            formats.digest(formats.rest(roster.roster_changed)), BLOCKS["roster-digest"])
        self.assertEqual(formats.roster_digest(FAMILY, roster), BLOCKS["former"])
        join = relay_pb2.Request.FromString(BLOCKS["join"]).join
        self.assertEqual(formats.join_request(FAMILY, join), BLOCKS["signed-join"])

    def first_roster(self):
        rosa = device(1, bytes([0x62]) * 32, bytes([0x11]) * 32, bytes([0x12]) * 32)
        emily = device(2, bytes([0x63]) * 32, bytes([0x21]) * 32, bytes([0x22]) * 32)
        persons = [wire.Person(id=1, role=1, display_name="Rosa"),
                   wire.Person(id=2, role=3, display_name="Emily")]
        return wire.Event(
            seq=1, command=bytes.fromhex("019352c0000000010000000000000001"),
            roster_changed=wire.Roster(persons=persons, devices=[rosa, emily]),
            signature=wire.Signature(signer=1))

    def test_the_hash_of_the_event(self):
        self.assertEqual(
            formats.chain_hash(FAMILY, bytes([0x44]) * 32, self.event), self.event.hash)

    def test_the_content_the_wrap_and_the_broadcast_open(self):
        self.assertEqual(formats.key_name(CONTENT_KEY), BLOCKS["key-name"])
        binding = formats.content_binding(FAMILY, CHAT, self.event.command)
        key = formats.one_content_key(CONTENT_KEY, binding)
        self.assertEqual(key, BLOCKS["one-content-key"])
        sealed = wire.Sealed.FromString(BLOCKS["sealed-content"])
        self.assertEqual(formats.open_box(key, sealed.box, binding), BLOCKS["content"])
        self.assertIsNone(formats.open_box(key, sealed.box, binding[:-1]))
        own = wire.Sealed.FromString(formats.seal(CONTENT_KEY, binding, BLOCKS["content"]))
        self.assertEqual((own.key, own.box[:12]), (BLOCKS["key-name"], BLOCKS["nonce"]))
        self.assertEqual(formats.open_box(key, own.box, binding), BLOCKS["content"])
        binding = formats.wrap_binding(FAMILY, CHAT, BLOCKS["key-name"])
        self.assertEqual(formats.unwrap(EMILY_AGREEMENT, binding, BLOCKS["wrap"]), CONTENT_KEY)
        wrap = formats.wrap(formats.public_bytes(EMILY_AGREEMENT), binding, CONTENT_KEY)
        self.assertEqual(formats.unwrap(EMILY_AGREEMENT, binding, wrap), CONTENT_KEY)
        channel = relay_pb2.Reply.FromString(BLOCKS["attached"]).attached.channels[0]
        topic, sealed = formats.broadcast_parts(BLOCKS["broadcast-frame"])
        self.assertEqual(topic, channel.topic)
        self.assertEqual(formats.open_box(channel.key, sealed, topic), BLOCKS["broadcast"])


if __name__ == "__main__":
    unittest.main()
