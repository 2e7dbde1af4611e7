"""The content keys of each audience, and their readers."""

from dataclasses import dataclass, field

import family_pb2 as wire
import formats
from model import Deferred, Rejected, readers

WEEK = 7 * 24 * 3600 * 1000  # Milliseconds: the age at which a writer replaces a key.
KEYS_PER_MAKER, KEY_WEEKS = 64, 1040


@dataclass
class Key:
    """A content key of one audience."""
    maker: int
    seen: int  # The seq of the family that the maker knew.
    at: int  # The relay's time of the first key share.
    secret: bytes | None = None  # None: no wrap of this device opens.
    readers: set[bytes] = field(default_factory=set)  # Agreement keys.
    sharers: set[bytes] = field(default_factory=set)


class ContentKeys:
    """A part of Family."""

    def apply_keys_shared(self, event, body, signer, _):
        ring, (begin, began) = self.keys.setdefault(event.audience, {}), self.epoch(event.audience)
        pairs = [(wrap.key, wrap.reader) for wrap in body.wraps]
        allowed = {d.agreement_key for d in readers(self.roster(event.seq), event.audience)}
        if len(set(pairs)) < len(pairs) or any(reader not in allowed for _, reader in pairs):
            raise Rejected("a key share names another reader than the audience has")
        made = sum(key.maker == signer.id and key.seen >= begin for key in ring.values())
        new = {name for name, _ in pairs} - ring.keys()
        weeks = min(KEY_WEEKS, max(0, event.at - began) // WEEK)
        if new and made + len(new) > KEYS_PER_MAKER + weeks:
            raise Rejected("too many keys")
        for wrap in body.wraps:
            key = ring.setdefault(wrap.key, Key(signer.id, event.signature.family.seq, event.at))
            key.readers |= {wrap.reader, signer.agreement_key}
            key.sharers.add(signer.agreement_key)
            if wrap.reader == self.agreement_key and key.secret is None:
                binding = formats.wrap_binding(self.number, event.audience, wrap.key)
                secret = formats.unwrap(self.agreement_secret, binding, wrap.value)
                if secret and formats.key_name(secret) == wrap.key:
                    key.secret = secret

    def apply_complained(self, event, body, signer, _):
        for name in body.keys:
            key = self.keys.get(event.audience, {}).get(name)
            if key and signer.agreement_key not in key.sharers:
                key.readers.discard(signer.agreement_key)

    def sealing_key(self, audience, relay_time):
        """The content key for a new content. None: make one, and share it first."""
        present = {device.agreement_key for device in readers(self.roster(), audience)}
        usable = [key for key in self.keys.get(audience, {}).values() if key.secret
                  and key.seen >= self.epoch(audience)[0] and key.readers == present]
        return usable[-1].secret if usable and relay_time - usable[-1].at <= WEEK else None

    def open(self, event, content):
        """The plaintext of a sealed content."""
        sealed = wire.Sealed.FromString(content)
        key = self.keys.get(event.audience, {}).get(sealed.key)
        if key is None or key.secret is None:
            raise Deferred
        binding = formats.content_binding(self.number, event.audience, event.command)
        plain = formats.open_box(
            formats.one_content_key(key.secret, binding), sealed.box, binding)
        if plain is None:
            raise Rejected("the content does not open")
        return wire.Content.FromString(plain)
