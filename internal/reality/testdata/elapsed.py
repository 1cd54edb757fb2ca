"""The same as elapsed.js, in Python."""
import json, sys, time

for line in sys.stdin:
    command = json.loads(line)
    answer = {"type": {"init": "ready", "release": "released"}.get(command["type"], "ok")}
    if command["type"] == "acquire":
        wall, monotonic = time.time(), time.monotonic()
        answer = {"type": "acquired", "until": wall * 1000 + 400}
    elif command["type"] == "extend":
        passed = time.time() - wall, time.monotonic() - monotonic
        answer = {"type": "failed", "error": "%.0f %.0f" % (passed[0] * 1000, passed[1] * 1000)}
    print(json.dumps(answer), flush=True)
