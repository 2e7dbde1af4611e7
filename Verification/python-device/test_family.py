"""Which events this device believes."""

import unittest

import family_pb2 as wire
import formats
from family import Family
from fixture import CHAT, NUMBER, Log, Person
from model import FAMILY, Gap, OtherHistory


class FamilyTests(unittest.TestCase):
    def setUp(self):
        self.log = Log()
        self.family = self.new_family()

    def new_family(self, organizer=None):
        organizer = organizer or self.log.rosa
        return Family(NUMBER, organizer.device.signing_key, self.log.alex.agreement)

    def read(self, events=None, family=None):
        for event in events or self.log.events:
            (family or self.family).read(event.SerializeToString())

    def texts(self, family=None):
        return [(line.person, line.text) for line in (family or self.family).lines.get(2, [])]

    def test_the_conversation_with_its_authors(self):
        self.log.text(self.log.emily, "May I stay longer?")
        self.log.text(self.log.rosa, "Until six.")
        self.read()
        self.assertEqual(self.texts(), [(2, "May I stay longer?"), (1, "Until six.")])
        self.assertEqual(self.family.rejected, [])
        self.assertEqual(self.family.sealing_key(CHAT, self.log.clock), self.log.key)

    def test_a_question_its_decision_and_the_second_decision(self):
        log = self.log
        choices = [wire.Choice(id="yes", answer=1), wire.Choice(id="no", answer=2)]
        question = wire.Question(id=bytes(range(16)), choices=choices)
        question.communication.people.add(handle=wire.Handle(kind=3, value="ada"))
        command = log.id()
        header = wire.QuestionHeader(id=question.id, child=2, app="a.b", choices=choices)
        log.add(log.emily, CHAT, command=command, asked=wire.Asked(
            header=header, content=log.seal(command, question=question)))
        for answer in choices:
            log.add(log.rosa, CHAT, question=header,
                    decided=wire.Decision(question=question.id, choice=answer))
        self.read()
        self.assertEqual([line.text for line in self.family.lines[2]], ["ada", "yes"])
        self.assertEqual(self.family.rejected, [(5, "the question is not open")])

    def test_no_changed_byte_of_an_event_is_read(self):
        event = self.log.text(self.log.emily, "Hello.").SerializeToString()
        self.read(self.log.events[:-1])
        for index in range(len(event)):
            with self.subTest(byte=index), self.assertRaises(Exception):
                self.family.read(event[:index] + bytes([event[index] ^ 1]) + event[index + 1:])
        self.assertEqual(self.texts(), [])
        self.family.read(event)
        self.assertEqual(self.texts(), [(2, "Hello.")])

    def test_a_relay_that_hashes_a_changed_event_again_forges_nothing(self):
        for change in (
                lambda e: setattr(e.posted, "content", e.posted.content[:-1] + b"x"),
                lambda e: setattr(e, "command", self.log.id()),
                lambda e: (setattr(e, "device", 1), setattr(e.signature, "signer", 1)),
                lambda e: setattr(e, "device", 1),
                lambda e: setattr(e.signature, "value", bytes(64)),
                lambda e: e.ClearField("signature"),
                lambda e: setattr(e.signature.audience, "seq", 1)):
            self.log = Log()
            event = self.log.text(self.log.emily, "Hello.")
            self.log.events.pop()
            self.log.heads[CHAT] = (2, self.log.events[1].hash)
            change(event)
            self.log.append(event)
            family = self.new_family()
            self.read(family=family)
            self.assertEqual(self.texts(family), [])
            self.assertEqual(len(family.rejected) + len(family.deferred), 1)

    def test_gaps_repetitions_and_other_histories(self):
        self.log.text(self.log.emily, "One.")
        last = self.log.text(self.log.emily, "Two.").SerializeToString()
        self.read(self.log.events[:2])
        with self.assertRaises(Gap):
            self.family.read(last)
        self.read(self.log.events[2:])
        self.assertFalse(self.family.read(last))
        other = self.log.events[2]
        other.at += 1
        other.hash = formats.chain_hash(NUMBER, self.log.events[1].hash, other)
        with self.assertRaises(OtherHistory):
            self.family.read(other.SerializeToString())

    def test_a_relay_that_repeats_an_event_at_another_position_doubles_nothing(self):
        event = wire.Event()
        event.CopyFrom(self.log.text(self.log.emily, "Hello."))
        event.seq, event.previous = 4, 3
        self.log.append(event)
        self.read()
        self.assertEqual(self.texts(), [(2, "Hello.")])
        self.assertEqual(self.family.rejected, [(4, "the command is known")])

    def test_an_event_waits_for_the_family_and_for_its_key(self):
        self.log.add(self.log.rosa, FAMILY, beat=True)
        self.log.text(self.log.emily, "Later.")
        roster, keys, beat, text = self.log.events
        self.read([roster, keys, text])
        self.assertEqual((self.texts(), len(self.family.deferred)), ([], 1))
        self.read([beat])
        self.assertEqual(self.texts(), [(2, "Later.")])

    def test_another_organizer_a_stranger_and_a_removed_member_are_rejected(self):
        self.read(family=(stranger := self.new_family(self.log.alex)))
        self.assertEqual(stranger.roster(), wire.Roster())
        log = self.log
        log.text(Person(3, 2, "Alex"), "Another key.")
        log.text(log.alex, "Before.")
        heads = [wire.ChainPosition(audience=CHAT, seq=log.heads[CHAT][0], hash=log.heads[CHAT][1])]
        log.add(log.rosa, FAMILY, heads=heads, roster_changed=log.roster(log.rosa, log.emily))
        log.text(log.alex, "After.")
        log.add(log.rosa, FAMILY, roster_changed=log.roster(log.rosa, log.emily, log.alex))
        self.read()
        self.assertEqual(self.texts(), [(3, "Before.")])
        self.assertEqual([reason for _, reason in self.family.rejected], [
            "the signature", "the signer is no device of the family", "a removed device returns"])
        self.assertIsNone(self.family.sealing_key(CHAT, log.clock))

    def test_a_child_decides_nothing(self):
        self.log.add(self.log.emily, CHAT, limits_changed=wire.Limits(child=2, on=False))
        self.log.add(self.log.emily, FAMILY,
                     roster_changed=self.log.roster(self.log.rosa, self.log.emily))
        self.read()
        self.assertEqual([seq for seq, _ in self.family.rejected], [3, 4])
        self.assertEqual(len(self.family.roster().persons), 3)


if __name__ == "__main__":
    unittest.main()
