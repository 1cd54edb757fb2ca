"""The Lock of the Python package kazoo, on ZooKeeper."""

import json
import sys
import threading

from kazoo.client import KazooClient, KazooState

writing = threading.Lock()
client, path, section, leases = None, "", 0, {}


def say(**answer):
    with writing:
        print(json.dumps(answer), flush=True)


def heed(state):
    """Give the lock up when the connection is lost: the session may have ended."""
    if state != KazooState.CONNECTED and section in leases:
        say(type="lost", section=section)


for line in sys.stdin:
    command = json.loads(line)
    kind = command["type"]
    try:
        if kind == "init":
            path = "/" + command["key"]
            client = KazooClient(hosts=",".join(command["servers"]), timeout=command["ttl"] / 1000, randomize_hosts=False)
            client.add_listener(heed)
            client.start()
            say(type="ready", key=path)
        elif kind == "acquire":
            lock = client.Lock(path)
            if not lock.acquire(blocking=False):
                raise RuntimeError("another client holds it")
            section = command["section"]
            leases[section] = lock
            session, _ = client.client_id
            say(type="acquired", session=f"{session:x}", token=int(lock.node[-10:]) + 1, notifies=True)
        elif kind == "release":
            if not leases.pop(command["section"]).release():
                raise RuntimeError("the lock was lost")
            say(type="released")
        elif kind == "extend":
            raise RuntimeError("a session cannot be extended")
        else:
            say(type="ok")
    except Exception as error:
        say(type="failed", error=str(error))
