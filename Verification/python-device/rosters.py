"""The rosters that this device trusts, beginning with the organizer's key."""

import family_pb2 as wire
import formats
from model import (
    ACCOUNT, CONVERSATION, FAMILY, ORGANIZER, Rejected, device_of, is_guardian, person_of, readers)


class Rosters:
    """A part of Family."""

    def roster(self, before=None):
        """The newest valid roster; with `before`, the newest one below this seq."""
        found = [roster for seq, roster, _ in self.rosters if before is None or seq < before]
        return found[-1] if found else wire.Roster()

    def apply_roster(self, event, roster):
        signature = event.signature
        seq, former, digest = self.rosters[-1] if self.rosters else (0, roster, formats.NO_HASH)
        signer = device_of(former, signature.signer)
        person = person_of(former, signer.person) if signer else wire.Person()
        if event.audience != FAMILY or not is_guardian(person):
            raise Rejected("the signer is no guardian's device")
        if not self.rosters and (person.role, signer.signing_key) != (
                ORGANIZER, self.organizer_key):
            raise Rejected("the first roster is not the organizer's")
        if signature.family.seq < seq or (signature.roster or formats.NO_HASH) != digest:
            raise Rejected("the signer did not know the newest roster")
        self.verify_signature(event, signer.signing_key)
        self.verify_change(former, roster, person)
        kept = {device.signing_key for device in roster.devices}
        for device in former.devices:
            if device.signing_key and device.signing_key not in kept:
                self.removed[device.signing_key] = {FAMILY: signature.family.seq} | {
                    head.audience: head.seq for head in signature.heads}
        self.begin_epochs(event, former if self.rosters else None, roster)
        self.rosters.append((event.seq, roster, formats.roster_digest(self.number, event)))

    def verify_change(self, former, roster, person):
        organizer = next((p.id for p in former.persons if p.role == ORGANIZER), 0)

        def organizers(one): return [d for d in one.devices if d.person == organizer]
        if person.role != ORGANIZER and organizers(former) != organizers(roster):
            raise Rejected("only the organizer changes the organizer's devices")
        if not any(device.signing_key for device in organizers(roster)):
            raise Rejected("the organizer has no device left")
        if any(device.signing_key in self.removed for device in roster.devices):
            raise Rejected("a removed device returns")
        persons, devices = list(former.persons), list(former.devices)
        is_removal = ({p.id for p in persons} - {p.id for p in roster.persons}
                      or any(device not in roster.devices for device in devices))
        if is_removal and not (all(person in persons for person in roster.persons)
                               and all(device in devices for device in roster.devices)):
            raise Rejected("a removal changes something else")

    def begin_epochs(self, event, former, roster):
        now = (event.seq, event.at)
        if former is None:
            self.first_epoch = now
            return
        for audience in [FAMILY] + [kind + person.id for person in former.persons
                                    for kind in (CONVERSATION, ACCOUNT)]:
            present = readers(roster, audience)
            if any(device not in present for device in readers(former, audience)):
                self.epochs[audience] = now

    def epoch(self, audience): return self.epochs.get(audience, self.first_epoch)
