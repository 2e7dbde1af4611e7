"""The byte formats of docs/Protocol.md, section Trust. Functions have the names of the terms."""

import hashlib
import hmac
import struct

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import family_pb2 as wire

NO_HASH = bytes(32)


def u8(value): return struct.pack(">B", value)
def u32(value): return struct.pack(">I", value)
def u64(value): return struct.pack(">Q", value)
def i64(value): return struct.pack(">q", value)
def counted(value): return u32(len(value)) + value  # bytes(x) of the page.
def text(value): return counted(value.encode())
def domain(value): return value.encode() + b"\0"
def mac(key, value): return hmac.new(key, value, hashlib.sha256).digest()
def digest(value): return mac(b"", value)  # D(x) of the page.
def identity(value): return value
def public_bytes(key): return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def varint(value):
    value %= 1 << 64
    encoded = b""
    while value > 127:
        encoded += u8(value & 127 | 128)
        value >>= 7
    return encoded + u8(value)


def varint_counted(value): return varint(len(value)) + value  # b(x) of the page.


# Signatures

def position(of): return u64(of.seq) + (of.hash or NO_HASH)


def known(signature):
    heads = b"".join(u64(head.audience) + position(head) for head in signature.heads)
    return (position(signature.family) + position(signature.audience)
            + u32(len(signature.heads)) + heads)


def header(question):
    choices = b"".join(text(choice.id) + u8(choice.answer) for choice in question.choices)
    return (question.id + u32(question.child) + counted(question.subjects)
            + u32(len(question.choices)) + choices
            + u8(question.HasField("expiration")) + i64(question.expiration))


def decision(question, choice): return question + text(choice.id) + u8(choice.answer)


def rest(roster):
    return (domain("permission-relay roster 1")
            + b"".join(text(person.display_name) for person in roster.persons)
            + b"".join(counted(d.public_key) + counted(d.agreement_key) for d in roster.devices))


def join_request(family, request):
    return (domain("permission-relay join 1") + u64(family) + counted(request.invitation)
            + counted(request.public_key) + counted(request.signing_key)
            + counted(request.agreement_key))


FOR_PERSON = {"account_changed": 3, "posted": 8, "contact_changed": 9, "withdrawn": 12,
              "age_noted": 40}


def fields(family, kind, body, signature, question=None, seal=digest):
    """The tag of an event's body and the fields of the tag.

    question: The header of the question that a decision is about.
    seal: digest for the bytes under a signature, identity for those in a chain.
    """
    match kind:
        case "roster_changed":
            return (u8(1) + u32(len(body.persons))
                    + b"".join(u32(p.id) + u8(p.role) for p in body.persons)
                    + u32(len(body.devices))
                    + b"".join(u32(d.id) + u32(d.person) + counted(d.signing_key)
                               for d in body.devices)
                    + counted(seal(rest(body))) + counted(signature.roster or NO_HASH))
        case "limits_changed":
            return u8(2) + u32(body.child) + u8(body.on)
        case "asked":
            return (u8(4) + text(body.header.app) + header(body.header)
                    + counted(seal(body.content)))
        case "reminded":
            return u8(5) + body
        case "cancelled":
            return u8(6) + body
        case "decided":
            return u8(7) + decision(body.question, body.choice) + header(question)
        case "passcode_changed":
            return (u8(10) + counted(body.salt) + u8(body.log_cost) + counted(body.public_key)
                    + counted(body.relay_key))
        case "answered_in_person":
            return (u8(11) + header(body.header) + counted(seal(body.content))
                    + decision(body.header.id, body.choice) + counted(body.proof))
        case "keys_shared":
            return u8(13) + u32(len(body.wraps)) + b"".join(
                wrap.key + counted(wrap.reader) + counted(wrap.value) for wrap in body.wraps)
        case "invited":
            return u8(14) + counted(body.key) + u32(body.person) + i64(body.expires)
        case "join_requested":
            return u8(15) + counted(join_request(family, body))
        case "age_set":
            return u8(41) + u32(body.person) + counted(seal(body.content)) + counted(body.proof)
        case "complained":
            return u8(50) + u32(len(body.keys)) + b"".join(body.keys)
        case "beat":
            return u8(51)
        case _:
            return u8(FOR_PERSON[kind]) + u32(body.person) + counted(seal(body.content))


def signed(family, audience, command, signature, fields):
    """The bytes under a signature."""
    return (domain("permission-relay command 3") + u64(family) + u64(audience)
            + u32(signature.signer) + known(signature) + command + fields)


def roster_digest(family, event):
    """The digest by which the next roster names this one."""
    signature = wire.Signature(signer=event.signature.signer)
    return digest(signed(family, event.audience, event.command, signature, fields(
        family, "roster_changed", event.roster_changed, signature)))


def is_signed_by(key, value, signature):
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, value)
        return True
    except (InvalidSignature, ValueError):
        return False


# Chain

def chain_hash(family, before, event):
    """The hash of an event, which covers all events before it in its audience."""
    kind, signature = event.WhichOneof("body"), event.signature
    body = getattr(event, kind)

    def short(of): return varint(of.seq) + (of.hash or NO_HASH)
    hashed_signature = varint(0)
    if event.HasField("signature"):
        hashed_signature = (
            varint(1) + varint(signature.signer) + short(signature.family)
            + short(signature.audience) + varint(len(signature.heads))
            + b"".join(varint(head.audience) + short(head) for head in signature.heads)
            + varint_counted(signature.value))
    if kind == "asked":
        asked = body.header
        # Fields 3 to 5 alone encode as they do within the header.
        part = wire.QuestionHeader(app=asked.app, subjects=asked.subjects, choices=asked.choices)
        has_end = asked.HasField("expiration")
        hashed_body = (varint(4) + asked.id + varint(asked.child)
                       + varint_counted(part.SerializeToString())
                       + (varint(1) + varint(asked.expiration) if has_end else varint(0))
                       + varint_counted(body.content))
    elif kind == "decided":
        hashed_body = (varint(7) + body.question + varint_counted(body.choice.id.encode())
                       + varint(body.choice.answer))
    else:
        hashed_body = varint(0) + varint_counted(signed(
            family, event.audience, event.command, signature,
            fields(family, kind, body, signature, seal=identity)))
        if kind == "answered_in_person":
            hashed_body += varint_counted(body.header.app.encode())
    return digest(
        b"pr-chain" + varint(family) + before + varint(event.seq) + varint(event.audience)
        + event.command + varint(event.device) + varint(event.at) + hashed_signature + hashed_body)


# Contents and broadcasts

def key_name(key): return mac(key, domain("permission-relay key name 1"))[:16]


def content_binding(family, audience, command):
    return domain("permission-relay content 1") + u64(family) + u64(audience) + command


def one_content_key(key, binding):
    return mac(key, domain("permission-relay one content 1") + binding)


def seal(key, binding, content):
    own = one_content_key(key, binding)
    nonce = mac(own, domain("permission-relay nonce 1") + content)[:12]
    box = nonce + AESGCM(own).encrypt(nonce, content, binding)
    return wire.Sealed(key=key_name(key), box=box).SerializeToString()


def open_box(key, box, associated):
    """The plaintext of nonce, ciphertext and tag. None: other bytes, or another key."""
    try:
        return AESGCM(key).decrypt(box[:12], box[12:], associated)
    except (InvalidTag, ValueError):
        return None


# Key wraps: HPKE (RFC 9180), base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM

WRAP_INFO = b"permission-relay content key 1"
KEM, HPKE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"


def wrap_binding(family, audience, name):
    return domain("permission-relay key 1") + u64(family) + u64(audience) + name


def extract(suite, salt, label, value): return mac(salt, b"HPKE-v1" + suite + label + value)


def expand(suite, key, label, info, length):
    # One block of HKDF is enough: no output has more than 32 bytes.
    info = struct.pack(">H", length) + b"HPKE-v1" + suite + label + info
    return mac(key, info + b"\x01")[:length]


def wrap_cipher(shared, encapsulated, reader):
    """The cipher and the nonce that sender and reader derive from their shared secret."""
    secret = expand(KEM, extract(KEM, b"", b"eae_prk", shared), b"shared_secret",
                    encapsulated + reader, 32)
    context = (b"\0" + extract(HPKE, b"", b"psk_id_hash", b"")
               + extract(HPKE, b"", b"info_hash", WRAP_INFO))
    secret = extract(HPKE, secret, b"secret", b"")
    return (AESGCM(expand(HPKE, secret, b"key", context, 16)),
            expand(HPKE, secret, b"base_nonce", context, 12))


def wrap(reader, binding, key):
    once = x25519.X25519PrivateKey.generate()
    shared = once.exchange(x25519.X25519PublicKey.from_public_bytes(reader))
    cipher, nonce = wrap_cipher(shared, public_bytes(once), reader)
    return public_bytes(once) + cipher.encrypt(nonce, key, binding)


def unwrap(secret, binding, value):
    """The content key. None: the wrap is for another device, or has other bytes."""
    try:
        shared = secret.exchange(x25519.X25519PublicKey.from_public_bytes(value[:32]))
        cipher, nonce = wrap_cipher(shared, value[:32], public_bytes(secret))
        return cipher.decrypt(nonce, value[32:], binding)
    except (InvalidTag, ValueError):
        return None


def broadcast_parts(frame):
    """The topic of the channel and the sealed broadcast, from the frame that follows the inbox."""
    return frame[1:1 + frame[0]], frame[1 + frame[0]:]
