// The page: it asks the engine for the world that the controls describe, and shows the answer.

import {Engine} from "./engine.js";
import {draw} from "./figure.js";
import {File} from "./file.js";
import {format} from "./duration.js";
import {Landscape} from "./landscape.js";
import {initial, read, request, withSet, write} from "./state.js";
import {Timeline} from "./timeline.js";
import {Track} from "./track.js";

const $ = id => document.getElementById(id);
const embedded = id => JSON.parse($(id).textContent);
const catalogue = embedded("catalogue");

// The page begins with the small engine. The large one, with the other systems, takes its place
// when the reader wants a lock that the small one lacks.
let engine = new Engine("engine.wasm.gz"), isLarge = false;

let state = read(location.hash);
let answer = null; // what is shown
let shown = state; // the world of which it is shown
let places = null; // the moments at which the fault of the answer can strike
let placesKey = "";

// What a test needs to know.
window.playground = {ask, latencies: [], isReady: () => engine.isReady, file: () => file};

// --- the world changes

// change makes another state the current one. isFinal says that the reader has come to rest
// there, so that the back button leads to what was before.
let settled = write(state);
function change(next, isFinal = true) {
  state = next;
  const address = write(state);
  if (isFinal && address !== settled) {
    // The steps on the way have replaced the entry of the place where the reader set out.
    history.replaceState(null, "", settled);
    history.pushState(null, "", address);
    settled = address;
  } else {
    history.replaceState(null, "", address);
  }
  refresh();
}

function onAddress() {
  if (write(read(location.hash)) === write(state)) return;
  state = read(location.hash);
  settled = write(state);
  clearTimeout(typing);
  file.text = state.text; // the answer fills it in if the state has no text
  refresh();
}
addEventListener("popstate", onAddress);
addEventListener("hashchange", onAddress);

// --- asking the engine

let typing = 0; // the timer that waits until the reader stops typing
let slow = 0; // the timer after which the page says that it waits
let wanted = 0, isBusy = false, idle = Promise.resolve();

// refresh asks for the current world. If the world changes while the engine is at work, only the
// last one is asked for.
function refresh() {
  const asked = performance.now();
  wanted++;
  markOld();
  if (isBusy) return;
  isBusy = true;
  document.documentElement.dataset.state = "busy";
  $("landscape").dataset.state = "waiting";
  idle = (async () => {
    for (let served = 0; served !== wanted;) {
      served = wanted;
      const from = state, a = await answerTo(from);
      if (served !== wanted) continue;
      clearTimeout(slow);
      document.documentElement.removeAttribute("data-old");
      if (a.problems) showProblems(a.problems, from);
      else showAnswer(a, from);
      if (engine.isReady) window.playground.latencies.push(performance.now() - asked);
    }
    isBusy = false;
    document.documentElement.dataset.state = "idle";
    showPlaces();
  })();
}

// markOld marks what is shown if it is not the current world, and says so after a while. At the
// beginning the page has its answer before the engine is there.
function markOld() {
  const isOld = !answer || write(state) !== write(shown);
  document.documentElement.toggleAttribute("data-old", isOld);
  clearTimeout(slow);
  if (isOld) slow = setTimeout(sayRunning, 500);
}

// sayRunning says that a world is being run, once the engine is there.
function sayRunning() {
  if (engine.isReady) setText($("verdict"), "This world is being run.");
  else slow = setTimeout(sayRunning, 500);
}

// answerTo returns the engine's answer, or why there can be none.
async function answerTo(asked) {
  const entry = asked.text ? null : catalogue.flatMap(g => g.scenarios).find(s => s.name === asked.scenario);
  if (entry && entry.command) {
    return {problems: [{text: `${entry.name} needs a lock or a server that is not part of the playground. The command plays it: ${entry.command}`}]};
  }
  try {
    return await ask(request(asked, "run"));
  } catch (e) {
    const hint = location.protocol === "file:" ? " A browser loads it only from a server: serve this folder, also without a network." : "";
    return {problems: [{text: `The engine cannot be loaded: ${e.message}.${hint}`}]};
  }
}

// ask returns the engine's answer to a request.
async function ask(request) {
  const a = await engine.ask(request);
  if (!a.lacks || isLarge) return a;
  clearTimeout(slow);
  setText($("verdict"), "The engine with the other systems is being loaded.");
  const large = new Engine("systems.wasm.gz");
  try {
    await large.ready;
  } catch (e) {
    large.stop();
    throw e;
  }
  engine.stop();
  [engine, isLarge] = [large, true];
  slow = setTimeout(sayRunning, 500);
  return engine.ask(request);
}

// askWhenIdle asks for something that is less urgent than the current world.
async function askWhenIdle(next) {
  while (isBusy) await idle;
  return engine.ask(next);
}

// --- showing the answer

const badges = {safe: ["good", "✓"], unsafe: ["bad", "✗"], unknown: ["doubt", "?"]};

function make(name, text = "", className = "") {
  const e = document.createElement(name);
  e.textContent = text;
  e.className = className;
  return e;
}

// setText changes a text only if it is another one, so that a screen reader does not repeat it.
function setText(e, text) { if (e.textContent !== text) e.textContent = text; }

// setValue changes a control, unless the reader is using it.
function setValue(e, value) { if (document.activeElement !== e || e.type === "range" && !e.matches(":active")) e.value = value; }

function showAnswer(a, from) {
  answer = a;
  shown = from;
  document.body.classList.remove("stale");
  showEmpty(false);
  $("problems").replaceChildren();
  $("mistakes").replaceChildren();
  file.mark([]);
  setText($("verdict"), a.runs.map(r => `${r.name[0].toUpperCase()}${r.name.slice(1)}: ${r.verdict}.`).join(" "));
  $("runs").replaceChildren(...a.runs.map(showRun));
  $("figure").replaceChildren(draw(a.figure, `${a.title}. The same in words is below.`));
  $("events").replaceChildren(...a.events.slice(1).map(sentence => make("li", sentence)));
  timeline.show();
  $("replay").textContent = a.replay;
  $("own-file").hidden = !state.text;
  $("hashes").replaceChildren(...a.runs.flatMap((r, i) => [i ? "; " : "", `${r.name} `, make("code", r.hash)]));
  showControls(a);
}

// The timeline is that of the world that is shown, also while a problem keeps another one away.
const timeline = new Timeline({
  box: $("timeline-box"), all: $("all"), note: $("timeline-note"), list: $("timeline"),
  ask: all => askWhenIdle({...request(shown, "timeline"), all}),
});

function showRun(r) {
  const card = make("div", "", "outcome"), [colour, sign] = r.hasCaveats ? ["doubt", "!"] : badges[r.verdict] || badges.unknown;
  const head = make("h3", `${r.name}: `);
  head.append(make("span", `${sign} ${r.verdict}`, `badge ${colour}`));
  card.append(head, make("p", r.data), ...r.lock.map(text => make("p", text, "soft")));
  return card;
}

function showProblems(problems, from) {
  document.body.classList.add("stale");
  setText($("verdict"), answer ? "This world cannot be shown. What is below is the last one that could." : "This world cannot be shown.");
  if (!answer) showState();
  // A mistake in the size of the fault can be mended there, but not the fault of another scenario.
  if (from.scenario !== shown.scenario || from.text !== shown.text && !(from.text && shown.text)) $("fault").inert = true;
  $("problems").replaceChildren(...problems.map(p => make("p", p.text)));
  const mistakes = problems.filter(p => p.line);
  file.mark(mistakes);
  $("mistakes").replaceChildren(...mistakes.map(p => {
    const li = make("li"), button = make("button", `Line ${p.line}`);
    button.type = "button";
    button.onclick = () => goToLine(p.line, p.column);
    li.append(button, " ", p.text);
    return li;
  }));
  fillScenarios(from);
  showSets();
  $("landscape").hidden = true;
}

// showEmpty hides what is empty until there is an answer, or shows it.
function showEmpty(isEmpty) { $("picture").hidden = $("command").hidden = isEmpty; }

// showState fills in the controls that need no answer.
function showState() {
  showEmpty(true);
  setValue($("seed"), state.seed);
  for (const radio of document.getElementsByName("fencing")) radio.checked = radio.value === state.fencing;
  fillSelect($("lock"), [["", "the scenario's own"], ...embedded("locks").map(l => [l, l])], state.lock);
}

const setting = path => answer.settings.find(s => s.path === path);

function showControls(a) {
  fillScenarios(state);
  $("variants").hidden = a.variants.length === 0;
  fillSelect($("variant"), a.variants.map(v => [v, v]), a.variant);
  const own = a.ownLock, others = embedded("locks").filter(l => l !== own);
  fillSelect($("lock"), [["", `${own} (its own)`], ...others.map(l => [l, a.locks.includes(l) ? l : `${l} (loads 10 MB)`])], state.lock);
  setValue($("ttl"), setting("lock.ttl")?.value ?? "");
  setValue($("nodes"), setting("lock.nodes")?.value ?? "");
  setValue($("seed"), state.seed);
  for (const radio of document.getElementsByName("fencing")) radio.checked = radio.value === state.fencing;
  $("paths").replaceChildren(...a.settings.map(s => { const o = make("option"); o.value = s.path; return o; }));
  if ((!state.text || file.text === "") && !file.hasFocus) file.text = a.file;
  showSets();
  showFault();
}

function fillScenarios(from) {
  if (!$("scenario").options.length) {
    const own = make("option", "your own file");
    own.value = "";
    own.hidden = true;
    $("scenario").append(own, ...catalogue.map(g => {
      const group = make("optgroup");
      group.label = g.title;
      group.append(...g.scenarios.map(s => {
        const option = make("option", s.name + (s.command ? " (only with the command)" : s.system ? ` (${s.system})` : ""));
        option.value = s.name;
        option.title = s.title;
        return option;
      }));
      return group;
    }));
  }
  $("scenario").value = from.text ? "" : from.scenario;
}

function fillSelect(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...options.map(([v, text]) => { const o = make("option", text); o.value = v; return o; }));
  }
  select.value = value;
}

// showSets lists the overrides, each with a button that removes it.
function showSets() {
  const focused = [...$("sets").querySelectorAll("button")].indexOf(document.activeElement);
  $("sets").replaceChildren(...state.sets.map(([path, value], i) => {
    const li = make("li"), button = make("button", "Undo");
    button.type = "button";
    button.setAttribute("aria-label", `Undo ${path}=${value}`);
    button.onclick = () => change({...state, sets: state.sets.filter((_, k) => k !== i)});
    li.append(make("code", `${path}=${value}`), " ", button);
    return li;
  }));
  if (focused >= 0) {
    const buttons = $("sets").querySelectorAll("button");
    (buttons[Math.min(focused, buttons.length - 1)] || $("reset")).focus();
  }
}

// --- the fault

const track = new Track($("track"), {
  onMove: i => moveFault(i, false),
  onSize: ms => sizeFault(ms, false),
  onEnd: () => change(state),
});

const landscape = new Landscape({
  onDone: () => { $("landscape").dataset.state = "complete"; },
  table: $("map"), legend: $("legend"), progress: $("map-progress"),
  compute: world => askWhenIdle(request(world, "cell")),
  onGo: world => change({...world, fencing: state.fencing}),
});

const split = set => [set.slice(0, set.indexOf("=")), set.slice(set.indexOf("=") + 1)];

// worldsOf returns the function that gives the state of each cell of a danger map, around a state
// and its fault.
const worldsOf = (from, found, fault) => (row, column) =>
  withSet(withSet(from, ...split(found.places[row].set)), fault.sizePath, found.sizes[column]);

// currentPlace returns the number of the moment at which the fault strikes, or of the nearest.
function currentPlace() {
  const all = places.places, same = all.findIndex(p => p.strikes === answer.fault.strikes);
  if (same >= 0) return same;
  const later = all.findIndex(p => p.atMs >= answer.fault.atMs);
  return later < 0 ? all.length - 1 : later;
}

function moveFault(i, isFinal) {
  if (!places) return;
  const place = places.places[i];
  if (place.strikes !== answer.fault.strikes) {
    answer.fault.strikes = place.strikes;
    change(withSet(state, ...split(place.set)), isFinal);
  } else if (isFinal) change(state);
  showPlace();
}

function sizeFault(ms, isFinal) {
  if (!places) return;
  const fault = answer.fault;
  fault.sizeMs = ms;
  fault.endsAt = "";
  change(withSet(state, fault.sizePath, (fault.isNegative ? "-" : "") + format(ms)), isFinal);
  showPlace();
}

// showFault shows the fault of the answer. Its moments may be known already.
function showFault() {
  const fault = answer.fault, isCurrent = places !== null && placesKey === keyOfPlaces();
  // Until the moments of this world are known, nothing can be moved.
  $("fault").hidden = !fault || !places;
  $("fault").inert = $("landscape").inert = !isCurrent;
  if (!fault) return;
  $("faults").hidden = fault.texts.length < 2;
  fillSelect($("which"), fault.texts.map((text, i) => [String(i + 1), `${i + 1}: ${text}`]), String(fault.number));
  $("size-control").hidden = !fault.sizePath;
  if (isCurrent) showPlace();
}

// showPlace shows where the fault is.
function showPlace() {
  const fault = answer.fault, all = places.places, current = currentPlace();
  if (!all.length) return;
  $("strikes-control").hidden = all.length < 2;
  $("strikes").max = all.length - 1;
  setValue($("strikes"), current);
  const words = fault.strikes + (fault.atMs >= 0 ? "" : " (it does not happen in this run)");
  setText($("strikes-words"), words);
  $("strikes").setAttribute("aria-valuetext", words);
  if (fault.sizePath) {
    const step = fault.longestMs / 120;
    Object.assign($("size"), {min: step, max: fault.longestMs, step});
    setValue($("size"), fault.sizeMs);
    const size = (fault.isNegative ? "-" : "") + format(fault.sizeMs);
    $("size").setAttribute("aria-valuetext", size);
    setText($("size-name"), fault.sizeName[0].toUpperCase() + fault.sizeName.slice(1));
    setValue($("size-words"), size);
    setText($("size-note"), fault.endsAt ? `as in the scenario: until ${fault.endsAt}` : fault.ttlMs ? `the TTL is ${format(fault.ttlMs)}` : "");
  }
  track.show(all, current, fault);
  if (!places.sizes.length) return;
  const column = nearestColumn(fault.sizeMs);
  const isExact = places.sizesMs[column] === fault.sizeMs && all[current].strikes === fault.strikes;
  landscape.mark(current, column, isExact);
  const near = column < 0 ? "It is larger than all sizes of the map." : "The nearest cell on its side of the TTL has a dashed border.";
  setText($("map-place"), isExact ? "" : `The world above is not in the map: ${words}, ${format(fault.sizeMs)}. ${near}`);
}

// nearestColumn returns the column with the nearest size. Sizes on the other side of the TTL have
// another effect, so they are left out if there are others. It returns -1 for a size that is
// larger than all.
function nearestColumn(ms) {
  const sizes = places.sizesMs, ttl = answer.fault.ttlMs || Infinity;
  if (ms > Math.max(...sizes)) return -1;
  const all = sizes.map((_, i) => i), alike = all.filter(i => sizes[i] > ttl === ms > ttl);
  return (alike.length ? alike : all).reduce((best, i) => Math.abs(sizes[i] - ms) < Math.abs(sizes[best] - ms) ? i : best);
}

// keyOfPlaces is equal for worlds that differ only in their fault's place and size.
function keyOfPlaces() {
  const {fencing, ...rest} = state;
  return JSON.stringify({...rest, sets: state.sets.filter(([path]) => !path.startsWith(`faults[${state.fault}]`))});
}

// showPlaces asks for the moments at which the fault can strike, and shows the danger map.
async function showPlaces() {
  if (!answer?.fault || document.body.classList.contains("stale") || !engine.isReady) {
    $("landscape").hidden = true;
    return;
  }
  const key = keyOfPlaces();
  if (key !== placesKey) {
    const found = await askWhenIdle(request(state, "places"));
    if (key !== keyOfPlaces()) return;
    if (found.problems) {
      $("fault").hidden = $("landscape").hidden = true;
      return;
    }
    [places, placesKey] = [found, key];
  }
  $("fault").hidden = $("fault").inert = $("landscape").inert = false;
  $("landscape").hidden = places.sizes.length === 0 || places.places.length === 0;
  if (!$("landscape").hidden) landscape.show(key, worldsOf(state, places, answer.fault), places, answer.fault.ttlMs);
  showPlace();
}

// --- the controls

// rest notes that the reader has come to rest at a slider, which says so after each key. What
// follows there within a second is the same step of the reader, and the back button leads to what
// was before all of it.
let rested = {slider: null, at: 0};
function rest(slider) {
  const now = performance.now();
  if (rested.slider === slider && now - rested.at < 1000) settled = write(state);
  rested = {slider, at: now};
  change(state);
}

const on = (id, event, then) => $(id).addEventListener(event, () => then($(id)));

on("scenario", "change", e => { file.text = ""; change({...initial(), seed: state.seed, scenario: e.value}); });
on("variant", "change", e => change({...state, variant: e.value, sets: [], fault: 1}));
on("lock", "change", e => change({...state, lock: e.value}));
on("ttl", "change", e => change(withSet(state, "lock.ttl", e.value.trim())));
on("nodes", "change", e => change(withSet(state, "lock.nodes", e.value)));
on("seed", "change", e => change({...state, seed: /^[0-9]{1,20}$/.test(e.value) ? e.value : "1"}));
for (const radio of document.getElementsByName("fencing")) {
  radio.addEventListener("change", () => change({...state, fencing: radio.value}));
}
on("which", "change", e => change({...state, fault: Number(e.value)}));
on("strikes", "input", e => moveFault(Number(e.value), false));
on("strikes", "change", rest);
on("size", "input", e => sizeFault(Number(e.value), false));
on("size", "change", rest);
on("size-words", "change", e => change(withSet(state, answer.fault.sizePath, e.value.trim())));
on("path", "input", e => {
  const chosen = answer && setting(e.value);
  $("words").replaceChildren(...(chosen?.words || []).map(word => { const o = make("option"); o.value = word; return o; }));
  $("value").placeholder = chosen?.value || "";
});
on("set", "click", () => { if ($("path").value && $("value").value) change(withSet(state, $("path").value.trim(), $("value").value.trim())); });
on("reset", "click", () => { file.text = ""; change({...initial(), scenario: state.scenario}); });
on("copy", "click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    setText($("copied"), "Copied.");
  } catch {
    setText($("copied"), "The browser does not allow it: copy the address instead.");
  }
});
$("controls").addEventListener("submit", e => e.preventDefault());
document.querySelector(".skip").addEventListener("click", e => { e.preventDefault(); $("verdict").focus(); });

// --- the file

const file = new File($("file"), $("editor"), () => {
  clearTimeout(typing);
  typing = setTimeout(() => change({...state, text: file.text}), 400);
});
on("file-box", "toggle", box => { if (box.open) file.load(); });

function goToLine(line, column) {
  $("file-box").open = true;
  file.goTo(line, column);
}

// --- the beginning

if (state.text) {
  file.text = state.text;
  $("file-box").open = true;
}
if (write(state) === write(initial())) {
  showAnswer(embedded("first"), state);
  performance.mark("first picture");
}
engine.ready.then(() => performance.mark("engine"), () => {});
refresh();
