"""Questions, decisions and texts, and the passcode's proofs."""

from dataclasses import dataclass

import formats
from model import ID_LEAD, Deferred, Rejected, time_of


@dataclass
class Line:
    """A line of a conversation."""
    seq: int
    person: int
    kind: str
    text: str


class Conversations:
    """A part of Family."""

    def add_line(self, event, child, person, kind, text):
        lines = self.lines.setdefault(child, [])
        lines.append(Line(event.seq, person, kind, text))
        lines.sort(key=lambda line: line.seq)

    def question_of(self, kind, body):
        """The header of the question that an event is about; None for other events."""
        if kind not in ("reminded", "cancelled", "decided"):
            return None
        id = body.question if kind == "decided" else body
        if any(event.asked.header.id == id for event in self.deferred if event.HasField("asked")):
            raise Deferred
        header, is_open = self.questions.get(id, (None, False))
        if not is_open:
            raise Rejected("the question is not open")
        return header

    def apply_posted(self, event, body, signer, _):
        content = self.open(event, body.content)
        if not content.HasField("text"):
            raise Rejected("the content is no text")
        self.add_line(event, body.person, signer.person, "text", content.text)

    def apply_asked(self, event, body, signer, _):
        question = self.verify_question(event, body)
        people = ", ".join(one.handle.value for one in question.communication.people)
        self.questions[body.header.id] = body.header, True
        self.add_line(event, body.header.child, signer.person, "question",
                      people or question.update.description)

    def apply_decided(self, event, body, signer, header):
        self.verify_choice(event, header, body.choice)
        self.questions[header.id] = header, False
        self.add_line(event, header.child, signer.person, "decision", body.choice.id)

    def apply_cancelled(self, event, body, signer, header):
        self.questions[header.id] = header, False
        self.add_line(event, header.child, signer.person, "cancellation", "")

    def apply_answered_in_person(self, event, body, signer, _):
        header, f = body.header, formats
        self.verify_choice(event, header, body.choice)
        self.verify_proof(event, body.proof, (
            f.domain("permission-relay in person 2") + f.u64(self.number) + event.command
            + header.id + f.u32(header.child) + f.text(header.app) + f.counted(header.subjects)
            + f.u32(len(header.choices))
            + b"".join(f.text(choice.id) + f.u8(choice.answer) for choice in header.choices)
            + f.u8(header.HasField("expiration")) + f.i64(header.expiration)
            + f.text(body.choice.id) + f.counted(f.digest(body.content))))
        self.verify_question(event, body)
        self.questions[header.id] = header, False
        self.add_line(event, header.child, signer.person, "inPerson", body.choice.id)

    def apply_passcode_changed(self, event, body, signer, _):
        self.passcodes.append(
            (event.seq, event.signature.family.seq, event.command, body.public_key))

    def verify_question(self, event, body):
        """The sealed question, which agrees with the header. The subjects are not compared."""
        header, question = body.header, self.open(event, body.content).question
        if header.id in self.questions:
            raise Rejected("the question is known")
        if ((question.id, [(choice.id, choice.answer) for choice in question.choices])
                != (header.id, [(choice.id, choice.answer) for choice in header.choices])
                or (question.HasField("expiration"), question.expiration)
                != (header.HasField("expiration"), header.expiration)):
            raise Rejected("the header contradicts the question")
        return question

    def verify_choice(self, event, header, choice):
        if (choice.id, choice.answer) not in [(one.id, one.answer) for one in header.choices]:
            raise Rejected("the question does not offer the choice")
        if header.HasField("expiration") and time_of(event.command) > header.expiration:
            raise Rejected("the question has expired")

    def verify_proof(self, event, proof, value):
        """A proof of the passcode that counts before the event."""
        before = [passcode for passcode in self.passcodes if passcode[0] < event.seq]
        left = [one for one in before if all(other[1] < one[0] for other in before if other != one)]
        counting = max(left, key=lambda passcode: (passcode[2], passcode[0]), default=None)
        if abs(time_of(event.command) - event.at) > ID_LEAD:
            raise Rejected("the proof of the passcode is of another time")
        if counting is None or not formats.is_signed_by(counting[3], value, proof):
            raise Rejected("the proof of the passcode")
