// The worker runs the engine. The page sends it the compiled engine first, and then requests;
// it answers each request in its turn.
"use strict";
importScripts("wasm_exec.js");

// A browser has no files: each function of wasm_exec.js's file system fails at once. Those of
// Node call back later, and so do these: a simulated world that looks for a file must get its
// answer from the event loop, because it would be stuck if the answer came within its call.
for (const name of ["open", "read", "stat", "lstat", "fstat", "close", "readdir", "readlink"]) {
  const fail = fs[name];
  fs[name] = (...args) => queueMicrotask(() => fail(...args));
}

const waiting = [];
let isReady = false;

function serve({id, request}) {
  self.locksimServe(JSON.stringify(request), text => postMessage({id, answer: JSON.parse(text)}));
}

self.locksimReady = () => {
  isReady = true;
  postMessage({ready: true});
  waiting.splice(0).forEach(serve);
};

onmessage = async ({data}) => {
  if (!data.engine) {
    if (isReady) serve(data); else waiting.push(data);
    return;
  }
  const go = new Go();
  let instance;
  try {
    instance = await WebAssembly.instantiate(data.engine, go.importObject);
  } catch (e) {
    postMessage({failed: String(e)});
    return;
  }
  go.run(instance).then(() => postMessage({ended: true}), () => postMessage({ended: true}));
};
