"""A family as this device has verified it: chains, rosters, content keys and conversations.

`Family.read` takes the events of each audience in order. The relay's word counts for nothing here:
the chain of hashes shows gaps and other histories, and signatures show who decided what.
"""

import family_pb2 as wire
import formats
from content_keys import ContentKeys
from conversations import Conversations
from model import (
    ACCOUNT, CHILD, CONVERSATION, FAMILY, ID_LEAD, ORGANIZER, Deferred, Gap, OtherHistory, Rejected,
    device_of, is_guardian, person_of, readers, time_of)
from rosters import Rosters

STATEMENTS = {"decided", "answered_in_person", "contact_changed", "withdrawn", "limits_changed",
              "account_changed", "passcode_changed"}  # A later command id follows their times.
WAITING = 4096  # Deferred events in memory. Further ones wait in the store for the next start.


class Family(Rosters, ContentKeys, Conversations):
    def __init__(self, number, organizer_key, agreement_secret):
        self.number, self.organizer_key = number, organizer_key
        self.agreement_secret = agreement_secret
        self.agreement_key = formats.public_bytes(agreement_secret)
        self.chains = {}  # Per audience: hash by seq, in the order of the log.
        self.rosters = []  # (seq, roster, digest), oldest first.
        self.removed = {}  # By removed signing key: the last seq that counts, by audience.
        self.commands = set()  # (signer, command id) of each verified event.
        self.epochs = {}  # Per audience: (seq, at) of the roster that began the present epoch.
        self.keys = {}  # Per audience: Key by name, oldest first.
        self.questions = {}  # By id: (header, is open).
        self.passcodes = []  # (seq, known seq, command id, public key)
        self.deferred = []
        self.rejected = []  # (seq, reason)
        self.lines = {}  # Per child, in the order of the log.
        self.newest_statement = 0

    # Chains

    def head(self, audience):
        """The cursor of an audience: seq and hash of the newest event that this device has read."""
        chain = self.chains.get(audience)
        return next(reversed(chain.items())) if chain else (0, formats.NO_HASH)

    def position(self, audience):
        seq, hash = self.head(audience)
        return wire.ChainPosition(seq=seq, hash=hash if seq else b"")

    def read(self, encoded):
        """Reads the next event of an audience, and returns it. None: the event is known.

        Raises Gap or OtherHistory if the event does not continue the chain. Nothing changes then.
        """
        event = wire.Event.FromString(encoded)
        chain = self.chains.setdefault(event.audience, {})
        seq, before = self.head(event.audience)
        if event.seq <= seq and chain.get(event.seq) == event.hash:
            return None
        if event.previous > seq:
            raise Gap
        kind = event.WhichOneof("body")
        if (event.previous != seq or event.seq <= seq or kind is None
                or formats.chain_hash(self.number, before, event) != event.hash
                # No hash covers the audience within a key share or a complaint.
                or kind in ("keys_shared", "complained")
                and getattr(event, kind).audience != event.audience):
            raise OtherHistory(f"event {event.seq} does not continue the chain")
        chain[event.seq] = event.hash
        if len(self.deferred) < WAITING:
            self.deferred.append(event)
        self.verify_deferred()
        return event

    def verify_deferred(self):
        """Verifies the waiting events until all of them have to wait."""
        count = None
        while count != len(self.deferred):
            count = len(self.deferred)
            waiting, self.deferred = sorted(self.deferred, key=lambda event: event.seq), []
            for event in waiting:
                try:
                    self.apply(event)
                except Deferred:
                    self.deferred.append(event)
                except Rejected as reason:
                    self.rejected.append((event.seq, str(reason)))

    # Verification

    def apply(self, event):
        """Verifies an event and applies it. Raises Rejected or Deferred."""
        kind, signature = event.WhichOneof("body"), event.signature
        body = getattr(event, kind)
        if kind == "join_requested":
            return  # No statement of a member. The guardian who signs the roster verifies it.
        self.verify_order(event)
        if kind == "roster_changed":
            self.apply_roster(event, body)
        else:
            roster = self.roster(before=event.seq)
            signer = device_of(roster, signature.signer)
            if signer is None:
                raise Rejected("the signer is no device of the family")
            if event.seq > self.removed.get(signer.signing_key, {}).get(event.audience, event.seq):
                raise Rejected("the signer's device was removed")
            header = self.question_of(kind, body)
            self.verify_signature(event, signer.signing_key, header)
            person = person_of(roster, signer.person)
            self.verify_permission(event, kind, body, person, header, roster)
            apply = getattr(self, f"apply_{kind}", None)  # Other kinds show nothing here.
            if apply:
                apply(event, body, signer, header)
        self.commands.add((signature.signer, event.command))
        if kind in STATEMENTS:
            self.newest_statement = max(self.newest_statement, time_of(event.command))

    def verify_order(self, event):
        signature = event.signature
        if not event.HasField("signature") or event.device not in (0, signature.signer):
            raise Rejected("no signature of the sender")
        if signature.family.seq >= event.seq:
            raise Rejected("the signer knew a later event")
        if (signature.signer, event.command) in self.commands:
            raise Rejected("the command is known")
        if (len(event.command) != 16 or event.command[0] & 128
                or time_of(event.command) > event.at + ID_LEAD):
            raise Rejected("the id's time")
        for audience, known in (FAMILY, signature.family), (event.audience, signature.audience):
            # Another history is deferred, too: more events may show that the signer was right. A
            # full device reports problem 210, and still counts what gives no permission.
            if known.seq and self.chains.get(audience, {}).get(known.seq) != known.hash:
                raise Deferred

    def verify_signature(self, event, key, header=None):
        kind = event.WhichOneof("body")
        value = formats.signed(
            self.number, event.audience, event.command, event.signature,
            formats.fields(self.number, kind, getattr(event, kind), event.signature, header))
        if not formats.is_signed_by(key, value, event.signature.value):
            raise Rejected("the signature")

    def verify_permission(self, event, kind, body, person, header, roster):
        """Audience and sender, as the table of commands and events has them."""
        match kind:
            case "asked" | "answered_in_person" | "reminded" | "cancelled":
                child = (header or body.header).child
                audience, allowed = CONVERSATION + child, person.id == child
            case "decided":
                audience, allowed = CONVERSATION + header.child, is_guardian(person)
            case "limits_changed" | "contact_changed" | "withdrawn":
                child = body.child if kind == "limits_changed" else body.person
                audience, allowed = CONVERSATION + child, is_guardian(person)
            case "posted":
                audience = CONVERSATION + body.person
                allowed = is_guardian(person) or person.id == body.person
            case "account_changed" | "age_noted" | "age_set":
                audience, is_own = ACCOUNT + body.person, person.id == body.person
                by_guardian = (is_guardian(person)
                               and person_of(roster, body.person).role == CHILD)
                is_adults = is_own and person.role != CHILD
                allowed = {"account_changed": is_adults or by_guardian, "age_noted": is_own,
                           "age_set": is_own or by_guardian}[kind]
                if kind == "age_set" and is_own and person.role == CHILD:
                    self.verify_proof(event, body.proof, formats.domain(
                        "permission-relay age settings 2") + formats.u64(self.number)
                        + event.command + formats.u32(body.person)
                        + formats.counted(formats.digest(body.content)))
            case "keys_shared" | "complained":
                audience = event.audience
                allowed = any(d.person == person.id for d in readers(roster, audience))
            case "invited":
                is_organizers = person_of(roster, body.person).role == ORGANIZER
                audience = FAMILY
                allowed = person.role == ORGANIZER if is_organizers else is_guardian(person)
            case _:
                audience, allowed = FAMILY, is_guardian(person)
        if CONVERSATION <= audience < ACCOUNT:
            allowed = allowed and person_of(roster, audience - CONVERSATION).role == CHILD
        if not allowed or event.audience != audience:
            raise Rejected("the sender may not do this")
