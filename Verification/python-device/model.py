"""Audiences, roles and readers, and the four ways in which an event is not applied."""

import family_pb2 as wire

FAMILY, CONVERSATION, ACCOUNT = 0, 1 << 32, 2 << 32  # Audiences; the person is added.
ORGANIZER, GUARDIAN, CHILD = 1, 2, 3
ID_LEAD = 10 * 60 * 1000  # Milliseconds.


class Gap(Exception):
    """The event follows events that this device lacks. Fetch them."""


class OtherHistory(Exception):
    """Problem 210: the relay shows another history than before, or an event with other bytes."""


class Rejected(Exception):
    """No device of the family with the right to this event has signed it."""


class Deferred(Exception):
    """The event cannot be verified before other events arrive."""


def time_of(command): return int.from_bytes(command[:6], "big")
def device_of(roster, id): return next((d for d in roster.devices if d.id == id), None)
def person_of(roster, id): return next((p for p in roster.persons if p.id == id), wire.Person())
def is_guardian(person): return person.role in (ORGANIZER, GUARDIAN)


def readers(roster, audience):
    """The devices that may read an audience."""
    kind, owner = audience - audience % CONVERSATION, person_of(roster, audience % CONVERSATION)

    def may_read(person):
        is_childs = owner.role == CHILD and (is_guardian(person) or person.id == owner.id)
        return kind == FAMILY or is_childs or kind == ACCOUNT and person.id == owner.id
    return [d for d in roster.devices if d.agreement_key and may_read(person_of(roster, d.person))]
