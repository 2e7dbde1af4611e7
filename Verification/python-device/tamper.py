#!/usr/bin/env python3
"""Changes each byte of each event that a device has read: tamper.py CREDENTIAL FOLDER

Fails if a reader takes one of the changed events. The events are those that a relay really sent.
"""

import sys

from google.protobuf.message import DecodeError

from family import Family
from files import Credential, Store
from model import Gap, OtherHistory


def is_read(family, encoded):
    try:
        return family.read(encoded) is not None
    except (DecodeError, Gap, OtherHistory):
        return False


def main(credential, folder):
    credential = Credential(credential)
    family = Family(credential.family, credential.organizer_key, credential.agreement)
    events, changes = Store(folder).events(), 0
    for event in events:
        for index, byte in enumerate(event):
            for bit in (1, 128):
                changes += 1
                if is_read(family, event[:index] + bytes([byte ^ bit]) + event[index + 1:]):
                    sys.exit(f"A reader takes the event with another byte {index}: {event.hex()}")
        if not is_read(family, event):
            sys.exit("A reader does not take an event of the store.")
    print(f"{len(events)} events, {changes} changes, none taken")


main(*sys.argv[1:])
