// What the editor offers, by examples: | is the cursor. Run: node --test, with the schema of
// scenario files in the variable LOCKSIM_SCHEMA.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import test from "node:test";

import {options} from "./complete.js";

const schema = JSON.parse(readFileSync(process.env.LOCKSIM_SCHEMA, "utf8"));
const offers = text => (options(schema, ...text.split("|")) || {options: []}).options.map(o => o.label);

const file = `title: mine
lock:
  kind: redlock
  ttl: 10s
clients:
  client-1: {starts: 0s}
  client-2:
    starts: client-1 acquired
faults:
  - pause: client-1
    before: client-1 write
    for: 20s
  - crash: redis-1
    at: 5s
`;

for (const [name, text, wanted, unwanted] of [
  ["fields of the file", "ti|", ["title", "lock", "clients", "faults"], ["ttl", "pause"]],
  ["fields that are there already are left out", file + "|", ["horizon"], ["title", "lock", "faults"]],
  ["fields of a mapping", "lock:\n  |", ["kind", "ttl", "nodes"], ["title", "pause"]],
  ["its other fields are left out, also those below", "lock:\n  |\n  ttl: 10s\n", ["kind"], ["ttl"]],
  ["values that a field can have", "lock:\n  kind: |", ["redlock", "single", "etcd"], ["ttl"]],
  ["fields of an entry with a name of its own", "clients:\n  client-1:\n    |", ["starts"], ["ttl", "client-1"]],
  ["fields within braces", "clients:\n  client-1: {|}", ["starts"], ["clients"]],
  ["further fields within braces", "clients:\n  client-1: {starts: 0s, |}", ["retry-every"], ["starts"]],
  ["a field that does not exist is no reason to offer nothing", "lock:\n  kin: redlock\n  |", ["kind", "ttl"], ["title"]],
  ["the kinds of faults", "faults:\n  - |", ["pause", "crash", "cancel"], ["lock", "-"]],
  ["a list without indentation", "faults:\n- |", ["pause", "crash"], ["lock"]],
  ["the other fields of a fault are those of its kind", "faults:\n  - pause: client-1\n    |", ["before", "for", "until"], ["pause", "crash", "cancel", "step"]],
  ["those of another entry do not count", file.replace("    at: 5s\n", "    |"), ["at", "before"], ["crash", "title"]],
  ["examples where any text is allowed", "faults:\n  - pause: client-1\n    when: |", ["client-1 acquired"], ["true"]],
  ["nothing in a comment", "# lo|", [], ["lock"]],
  ["nothing in a text of several lines", "story: >-\n  lo|", [], ["lock"]],
  ["nothing for a field that does not exist", "nonsense:\n  |", [], ["lock", "ttl"]],
]) {
  test(name, () => {
    const got = offers(text);
    for (const label of wanted) assert.ok(got.includes(label), `${label} is not offered, only ${got}`);
    for (const label of unwanted) assert.ok(!got.includes(label), `${label} is offered, with ${got}`);
    if (wanted.length === 0) assert.deepEqual(got, []);
  });
}

// What is inserted takes the place of what has been typed.
test("the place of the insertion", () => {
  const before = "lock:\n  ki";
  const found = options(schema, before, "");
  assert.equal(found.from, before.length - 2);
  assert.equal(found.options.find(o => o.label === "kind").apply, "kind: ");
});

// Each prefix of a file is a file that somebody may be typing.
test("no file makes it fail", () => {
  for (let i = 0; i <= file.length; i++) options(schema, file.slice(0, i), file.slice(i));
});
