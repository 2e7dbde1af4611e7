"""The files of a device: its credential and its store."""

import base64
import json
import os
import sqlite3
import stat
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ed25519, x25519

import relay_pb2


class Credential:
    """The file that `relayctl apply` and `join` write for a device."""

    def __init__(self, path):
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            sys.exit(f"Others may read {path}. Its mode must be 0600.")
        file = json.loads(Path(path).read_text())
        if file["version"] != 2:
            sys.exit(f"{path} is no credential of version 2.")
        self.family, self.device, self.person = file["family"], file["device"], file["person"]
        self.requests, self.broadcasts = file["requests"], file["broadcasts"]
        self.curve_keys = file["publicKey"].encode(), file["secretKey"].encode()
        self.relay_key = file["relayKey"].encode()
        self.organizer_key = base64.b64decode(file["organizerKey"])
        self.signing = ed25519.Ed25519PrivateKey.from_private_bytes(
            base64.b64decode(file["signingSecret"]))
        self.agreement = x25519.X25519PrivateKey.from_private_bytes(
            base64.b64decode(file["agreementSecret"]))


class Store:
    """Events as they travelled, commands that are not settled, and the relay's pass."""

    def __init__(self, folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        file = Path(folder) / "device.sqlite"
        self.db = sqlite3.connect(file, isolation_level=None, timeout=0)
        # The exclusive lock keeps a second process of this device out.
        self.db.executescript("""
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA synchronous = FULL;
            BEGIN EXCLUSIVE;
            CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
            CREATE TABLE IF NOT EXISTS outbox (
              place INTEGER PRIMARY KEY, id BLOB NOT NULL, command BLOB NOT NULL);
            CREATE TABLE IF NOT EXISTS pass (place INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
            COMMIT;""")

    def events(self):
        return [row[0] for row in self.db.execute("SELECT bytes FROM event ORDER BY seq")]

    def add_event(self, event, encoded):
        # The newest event of an audience is its cursor, so that both are one record.
        self.db.execute("INSERT INTO event VALUES (?, ?)", (event.seq, encoded))

    def outbox(self):
        rows = self.db.execute("SELECT place, id, command FROM outbox ORDER BY place")
        return [(place, id, relay_pb2.Command.FromString(command)) for place, id, command in rows]

    def add_command(self, id, command, is_first=False):
        edge = "min(place) - 1" if is_first else "max(place) + 1"
        self.db.execute(f"INSERT INTO outbox SELECT coalesce({edge}, 1), ?, ? FROM outbox",
                        (id, command.SerializeToString()))

    def change_id(self, place, id):
        self.db.execute("UPDATE outbox SET id = ? WHERE place = ?", (id, place))

    def remove_command(self, id):
        return self.db.execute("DELETE FROM outbox WHERE id = ?", (id,)).rowcount > 0

    def newest_pass(self):
        row = self.db.execute("SELECT bytes FROM pass").fetchone()
        return row[0] if row else b""

    def keep_pass(self, value):
        self.db.execute("INSERT OR REPLACE INTO pass VALUES (1, ?)", (value,))
