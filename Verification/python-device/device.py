#!/usr/bin/env python3
"""A device in Python, written from docs/Protocol.md.

    device.py CREDENTIAL --directory FOLDER read
    device.py CREDENTIAL --directory FOLDER post "See you at six."
    device.py CREDENTIAL --directory FOLDER follow --lines 3

Standard output has one JSON object per line of a conversation, standard error one line per step.
"""

import argparse
import json
import os
import sqlite3
import sys

import zmq

from files import Credential, Store
from model import CHILD, OtherHistory, person_of
from session import Refused, Session, trace

FRAME = 1 << 20


class Sockets:
    """The DEALER and the SUB of a device."""

    def __init__(self, credential):
        self.credential, self.context = credential, zmq.Context()
        self.open()

    def open(self):
        self.poller, self.topics, self.attachments = zmq.Poller(), set(), 0
        # Broadcasts first, because events follow as soon as the device is attached.
        self.sub = self.connect(zmq.SUB, self.credential.broadcasts)
        self.dealer = self.connect(zmq.DEALER, self.credential.requests)

    def connect(self, kind, endpoint):
        socket = self.context.socket(kind)
        socket.curve_publickey, socket.curve_secretkey = self.credential.curve_keys
        socket.curve_serverkey = self.credential.relay_key
        socket.maxmsgsize, socket.linger = FRAME, 0
        socket.connect(endpoint)
        self.poller.register(socket, zmq.POLLIN)
        return socket

    def close(self):
        self.dealer.close()
        self.sub.close()

    def renew(self):
        self.close()
        self.open()

    def send(self, request):
        self.dealer.send_multipart([b"", request.SerializeToString()])

    def subscribe(self, device):
        # libzmq sends no second subscription of a topic, so each one is ended first.
        for topic in self.topics:
            self.sub.unsubscribe(topic)
        self.topics, self.attachments = device.topics(), device.attachments
        for topic in self.topics:
            self.sub.subscribe(topic)

    def turn(self, device):
        """Hands waiting frames to the device, or waits for them or for the next retry."""
        seconds = device.tick()
        if self.attachments != device.attachments:
            self.subscribe(device)
        for socket, _ in self.poller.poll(1000 * seconds):
            frames = socket.recv_multipart()
            if socket is self.sub and len(frames) == 2:
                device.on_broadcast(*frames)
            elif socket is self.dealer and len(frames) == 2 and not frames[0]:
                device.on_reply(frames[1])


def show(device, shown):
    """Prints the lines of all conversations that were not shown before."""
    for child, lines in sorted(device.family.lines.items()):
        for line in lines:
            if line.seq not in shown:
                shown.add(line.seq)
                name = person_of(device.family.roster(), line.person).display_name
                print(json.dumps({"seq": line.seq, "childID": child, "by": name,
                                  "kind": line.kind, "text": line.text}), flush=True)


def trace_cursors(device):
    trace("cursors", *[f"{one.audience}={one.delivered}" for one in device.cursors().cursors])


def run(options):
    credential = Credential(options.credential)
    sockets = Sockets(credential)
    device = Session(credential, Store(options.directory), sockets.send, sockets.renew)
    shown = set()
    trace_cursors(device)

    def turn_until(condition):
        while not condition():
            sockets.turn(device)
            show(device, shown)

    turn_until(lambda: device.channels and not device.retries)
    if options.act == "post":
        children = [p.id for p in device.family.roster().persons if p.role == CHILD]
        id = device.post(options.child or children[0], options.text)
        turn_until(lambda: id in device.settled)
        if device.settled[id]:
            raise Refused(f"the text: problem {device.settled[id]}")
    elif options.act == "follow":
        before = len(shown)
        trace("following")
        turn_until(lambda: len(shown) >= before + options.lines)
    for seq, reason in device.family.rejected:
        trace("rejected", seq, reason)
    trace("deferred", len(device.family.deferred))
    trace_cursors(device)
    sockets.close()


def main():
    parser = argparse.ArgumentParser(description="A device of the permission relay.")
    parser.add_argument("credential")
    parser.add_argument("--directory", required=True)
    acts = parser.add_subparsers(dest="act", required=True)
    acts.add_parser("read", help="print the conversations")
    post = acts.add_parser("post", help="send a text")
    post.add_argument("text")
    post.add_argument("--child", type=int, help="the conversation's child (default: the first)")
    follow = acts.add_parser("follow", help="print the conversations, and new lines as they come")
    follow.add_argument("--lines", type=int, default=sys.maxsize, help="end after new lines")
    os.umask(0o077)
    try:
        run(parser.parse_args())
    except OtherHistory as reason:
        sys.exit(f"Problem 210, two histories: {reason}.")
    except Refused as reason:
        sys.exit(f"Refused: {reason}.")
    except sqlite3.OperationalError as reason:
        sys.exit(f"The device's folder cannot be used: {reason}.")


if __name__ == "__main__":
    main()
