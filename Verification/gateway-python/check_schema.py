"""Checks a running gateway against its OpenAPI document: check_schema.py URL TOKEN-FILE

schemathesis requests what the document allows and what it forbids, with a fixed seed. The module is
also the hooks of that run. README.md has the reasons for what is left out.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import schemathesis

FOLDER = pathlib.Path(__file__).resolve().parent
# Examples of each operation in the fuzzing phase. The other two phases have fixed cases.
EXAMPLES = 40
# The variable with the seconds of a long run, which repeats the fuzzing phase until they have passed.
SECONDS = "GATEWAY_SCHEMA_SECONDS"


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    # A valid wait is shortened to none, because the app of this run has no new events.
    wait = (case.query or {}).get("wait")
    if str(wait).isdecimal() and 0 <= int(str(wait)) <= 60:
        case.query["wait"] = 0


def main(url: str, token: str) -> int:
    arguments = [
        "--config-file", str(FOLDER / "schemathesis.toml"), "run", f"{url}/v1/openapi.json",
        "--seed", "1", "--generation-database", "none",
        "--max-examples", str(EXAMPLES), "--request-timeout", "120",
        "--phases", "examples,coverage,fuzzing",
        "--exclude-operation-id", "events", "--continue-on-failure", "--no-color",
    ]
    if seconds := os.environ.get(SECONDS):
        arguments += ["--max-time", seconds]
    environment = {
        **os.environ, "GATEWAY_TOKEN": pathlib.Path(token).read_text().strip(),
        "SCHEMATHESIS_HOOKS": "check_schema", "PYTHONPATH": str(FOLDER),
    }
    program = pathlib.Path(sys.executable).parent / "schemathesis"
    return subprocess.run([program, *arguments], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
