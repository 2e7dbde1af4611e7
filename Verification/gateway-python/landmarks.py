"""An app: asks whether a person may chat, and handles the response.

python3 landmarks.py http://127.0.0.1:PORT gateway/token-example.landmarks ada
"""
import pathlib
import sys

from permission_relay import Device, handle

place, token, name = sys.argv[1:4]
device = Device(place, pathlib.Path(token).read_text())
if device.known([handle(name)]):
    sys.exit(f"{name} is known")
asked = device.ask({"people": [{"handle": handle(name)}], "actions": ["chat"]})
print(asked["outcome"], flush=True)
if asked["outcome"] in ("cancelled", "abandoned"):
    sys.exit()
question = asked.get("openQuestion", asked["question"])
for event in device.events():
    done = event["type"] == "response" and event["data"]["question"].lower() == question.lower()
    if done:
        print(event["id"], event["data"]["choice"]["answer"], flush=True)
    device.acknowledge(event["id"])  # handled: the gateway does not send the event again
    if done:
        break
