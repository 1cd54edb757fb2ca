"""The Lock of the Python package redis (redis-py), on one server."""

import json
import sys

import redis


def say(**answer):
    print(json.dumps(answer), flush=True)


client, key, ttl, leases = None, "", 0.0, {}
for line in sys.stdin:
    command = json.loads(line)
    kind, section = command["type"], command.get("section")
    try:
        if kind == "init":
            host, port = command["servers"][0].split(":")
            client = redis.Redis(host, int(port))
            key, ttl = command["key"], command["ttl"] / 1000
            say(type="ready", servers=1)
        elif kind == "acquire":
            lock = client.lock(key, timeout=ttl)
            if not lock.acquire(blocking=False):
                raise RuntimeError("another client holds it")
            leases[section] = lock
            say(type="acquired")
        elif kind == "extend":
            leases[section].extend(ttl, replace_ttl=True)
            say(type="extended")
        elif kind == "release":
            leases[section].release()
            say(type="released")
        else:
            say(type="ok")
    except Exception as error:
        say(type="failed", error=str(error))
