// The engine as the page sees it: it answers requests, one after the other, in a worker. A world
// that does not end is ended together with its worker, and a new worker takes over.

// How long the page waits for an answer, in milliseconds.
const patience = Number(new URLSearchParams(location.search).get("patience")) || 10_000;

// download returns a compiled engine.
async function download(file) {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: the server answers ${response.status}`);
  // A server that knows what .gz means has the browser decompress the file.
  const isDecompressed = (response.headers.get("Content-Encoding") || "").includes("gzip");
  const body = isDecompressed ? response.body : response.body.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(body, {headers: {"Content-Type": "application/wasm"}}));
}

export class Engine {
  // file is the compressed engine, beside the page.
  constructor(file) {
    this.compiled = download(file);
    this.isReady = false;
    this.compiled.catch(() => {}); // each request reports it
    this.calls = new Map();
    this.lastId = 0;
    this.start();
  }

  // start starts a worker. Requests wait until it is ready.
  start() {
    this.worker = new Worker("worker.js");
    const worker = this.worker;
    let wasReady = false;
    this.ready = new Promise((resolve, reject) => {
      worker.onmessage = ({data}) => {
        if (data.ready) {
          wasReady = this.isReady = true;
          resolve();
        } else if (data.failed) reject(new Error(data.failed));
        else if (data.ended) this.replace("The engine ended, which it must not do. A new one has been started.");
        else this.settle(data.id, data.answer);
      };
      worker.onerror = e => {
        e.preventDefault();
        const why = e.message || "its script cannot be loaded";
        reject(new Error(why));
        // A worker that was never ready would fail again.
        if (wasReady) this.replace(`The engine failed: ${why}. A new one has been started.`);
      };
      this.compiled.then(engine => worker.postMessage({engine}), reject);
    });
    this.ready.catch(() => {});
  }

  // ask sends a request and returns its answer. If there is none in time, the answer is a
  // problem, and a new worker is started.
  async ask(request) {
    await this.ready;
    return new Promise(resolve => {
      this.calls.set(++this.lastId, {request, resolve});
      this.send(this.lastId);
    });
  }

  send(id) {
    const call = this.calls.get(id);
    call.timer = setTimeout(() => this.replace(`This world did not end within ${patience / 1000} seconds, so the page has ended it. Change it back, or make it smaller; the command waits longer.`), patience);
    this.worker.postMessage({id, request: call.request});
  }

  settle(id, answer) {
    const call = this.calls.get(id);
    if (!call) return;
    clearTimeout(call.timer);
    this.calls.delete(id);
    call.resolve(answer);
    if (answer.spoiled) this.replace("");
  }

  // stop ends the worker. The engine must have answered all requests.
  stop() { this.worker.terminate(); }

  // replace ends the worker with everything that it runs, and starts a new one. If why is a
  // reason, it is the answer to the oldest request, which the worker was at. The other requests
  // are sent again.
  replace(why) {
    this.worker.terminate();
    for (const {timer} of this.calls.values()) clearTimeout(timer);
    const [oldest] = this.calls.keys();
    if (why && oldest) {
      this.calls.get(oldest).resolve({problems: [{text: why}]});
      this.calls.delete(oldest);
    }
    const waiting = [...this.calls.keys()];
    this.start();
    this.ready.then(() => waiting.forEach(id => this.send(id)), () => {});
  }
}
