"""A lock on one Redis server, without a library, for locksim reality --client."""
import json, socket, sys, time, uuid

def redis(*words):
    data = b"*%d\r\n" % len(words)
    for word in map(lambda w: str(w).encode(), words):
        data += b"$%d\r\n%s\r\n" % (len(word), word)
    server.sendall(data)
    return answers.readline().strip()

DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"
for line in sys.stdin:
    command, answer = json.loads(line), {"type": "ok"}  # the answer to a step
    if command["type"] == "init":
        host, port = command["servers"][0].split(":")
        server = socket.create_connection((host, int(port)))
        answers, key, ttl = server.makefile("rb"), command["key"], command["ttl"]
        answer = {"type": "ready", "servers": 1}
    elif command["type"] == "acquire":
        value, until = uuid.uuid4().hex, time.time() * 1000 + ttl
        granted = redis("SET", key, value, "NX", "PX", int(ttl)) == b"+OK"
        late = time.time() * 1000 >= until  # the lease counts from the request
        if late:
            redis("EVAL", DELETE, 1, key, value)
        answer = {"type": "acquired", "until": until} if granted and not late else {"type": "failed", "error": "late" if late else "taken"}
    elif command["type"] == "release":
        gone = redis("EVAL", DELETE, 1, key, value) != b":1"
        answer = {"type": "failed", "error": "the lock was lost"} if gone else {"type": "released"}
    elif command["type"] == "extend":
        answer = {"type": "failed", "error": "this lock cannot be extended"}
    print(json.dumps(answer), flush=True)
