// Steps through the runs of a page. Everything that it shows is in the page; without
// it the page shows all of it at once.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const variants = all("section.variant");
  const player = document.querySelector(".player");
  if (!variants.length || !player) return;
  document.documentElement.classList.add("js");
  player.hidden = false;

  const now = player.querySelector(".now"), detail = player.querySelector(".detail"), count = player.querySelector(".count");
  const keys = player.querySelector("input[name=keys]");
  const playButton = player.querySelector("[data-do=play]");
  const radios = all("input[name=fencing]", player);
  const modes = radios.map(r => r.value);
  const parts = new Map(variants.map(v => [v, {
    stage: v.querySelector(".stage"),
    runs: all("figure.run", v),
    told: all(".told", v),
    steps: new Map(all("ol.steps", v).map(list => [list.dataset.run, all("li", list)])),
  }]));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let variant = variants[0], mode = "off", position = 0, timer = 0;

  // A Curtain hides what a run has not reached: of what lasts, the part to the right of an
  // edge, and everything that begins later. A dot on each message that is on its way shows
  // how far the message has come.
  class Curtain {
    constructor(svg) {
      this.width = Number(svg.getAttribute("width"));
      const cursor = svg.querySelector(".cursor");
      const shape = (name, at) => {
        const e = document.createElementNS(svg.namespaceURI, name);
        for (const [key, value] of Object.entries(at)) e.setAttribute(key, value);
        return e;
      };
      this.veil = shape("rect", { class: "veil", y: cursor.getAttribute("y"), height: cursor.getAttribute("height") });
      this.dots = shape("g", { class: "dots", "aria-hidden": "true" });
      const above = [...svg.children].find(e => e.matches(".clock, .decision, .pole, .pennant, .labels"));
      svg.insertBefore(this.veil, above);
      svg.insertBefore(this.dots, above);
      this.dot = () => this.dots.appendChild(shape("circle", { r: 4.5 }));
      this.parts = [...svg.children].filter(e => !e.matches("title, .paper, .lane, .cursor, .veil, .dots, .labels")).map(e => this.read(e));
      this.edge = 0;
    }

    // read notes where a part of the picture begins, and of a message where it ends.
    read(e) {
      const drawn = e.matches("g") ? e.querySelector("rect, path, text") : e;
      const numbers = (drawn.getAttribute("d") || "").match(/-?[\d.]+/g) || [];
      const title = e.querySelector(":scope > title");
      const part = { e, title, text: title && title.textContent, isOver: true, x: Number(e.dataset.x || drawn.getAttribute("x") || numbers[0]), seq: Number(e.dataset.s || 0) };
      if (e.matches(".message") && numbers.length >= 4) part.way = numbers.slice(0, 4).map(Number);
      part.end = part.way ? part.way[2] : part.x + (drawn.matches("rect") && !e.dataset.x ? Number(drawn.getAttribute("width")) : 0);
      return part;
    }

    // open shows what is left of an edge, up to the event of a step.
    open(edge, last) {
      cancelAnimationFrame(this.frame);
      this.edge = edge;
      this.veil.setAttribute("x", edge);
      this.veil.setAttribute("width", Math.max(0, this.width - edge));
      let dots = 0;
      for (const part of this.parts) {
        const { e, x, seq, way, end } = part;
        const ahead = x > edge || seq > last;
        e.classList.toggle("ahead", ahead);
        if (part.title && part.isOver !== end <= edge) { // its title says how it ends
          part.isOver = end <= edge;
          part.title.textContent = part.isOver ? part.text : "not over yet";
        }
        if (ahead || !way || way[2] <= edge || way[2] <= way[0]) continue;
        const dot = this.dots.children[dots++] || this.dot();
        dot.setAttribute("class", e.getAttribute("class"));
        dot.setAttribute("cx", edge);
        dot.setAttribute("cy", way[1] + (way[3] - way[1]) * (edge - way[0]) / (way[2] - way[0]));
      }
      while (this.dots.children.length > dots) this.dots.lastChild.remove();
    }

    // move opens the curtain step by step, so that messages are seen to move.
    move(edge, last) {
      const from = this.edge;
      if (still.matches || !document.hasFocus() || edge <= from || from === 0 || edge - from > this.width / 2) return this.open(edge, last);
      const takes = Math.min(800, 200 + 4 * (edge - from)), began = performance.now();
      const draw = now => {
        const part = Math.min(1, Math.max(0, (now - began) / takes));
        this.open(from + (edge - from) * part, last);
        if (part < 1) this.frame = requestAnimationFrame(draw);
      };
      draw(began);
    }
  }
  const curtains = new Map(all("figure.run").map(f => [f, new Curtain(f.querySelector("svg"))]));

  // A table of states has what each client, lock and object is and has at each step.
  const states = new Map(all(".told .state").map(box => {
    const { names, changes } = JSON.parse(box.querySelector("script").textContent);
    const cells = names.map(name => {
      const row = box.querySelector("tbody").insertRow(), who = document.createElement("th");
      who.scope = "row";
      who.textContent = name;
      row.append(who);
      return [row.insertCell(), row.insertCell()];
    });
    box.hidden = false;
    const isCrowd = names.length > 12;
    return [box, step => {
      let first = -1, more = 0; // the row of those before this one that are and have the same
      for (const [row, pair] of cells.entries()) {
        const at = changes.findLastIndex((list, i) => i <= step && list.some(c => c.r === row));
        const now = at < 0 ? { s: "", h: "" } : changes[at].find(c => c.r === row);
        const line = pair[0].parentElement, isNew = at === step && step > 0;
        const isSame = isCrowd && first >= 0 && cells[first][0].textContent === now.s && cells[first][1].textContent === (now.h || "");
        line.hidden = isSame;
        pair[0].textContent = now.s;
        pair[1].textContent = now.h || "";
        line.classList.toggle("new", isNew);
        line.firstChild.textContent = names[row];
        if (!isSame) [first, more] = [row, 0];
        else {
          const head = cells[first][0].parentElement;
          head.firstChild.textContent = `${names[first]} and ${++more} more`;
          if (isNew) head.classList.add("new");
        }
      }
    }];
  }));

  // The places where the player can stop: in one run each of its steps, in both each
  // moment of either, with a step of each where both have one.
  function stops() {
    const { steps } = parts.get(variant);
    if (mode !== "both") return (steps.get(mode) || []).map(li => [li]);
    const found = new Map();
    for (const list of steps.values()) {
      let before = "", nth = 0;
      for (const li of list) {
        nth = li.dataset.at === before ? nth + 1 : 0;
        before = li.dataset.at;
        const key = before + "/" + nth;
        if (!found.has(key)) found.set(key, { at: Number(before), nth, here: [] });
        found.get(key).here.push(li);
      }
    }
    return [...found.values()].sort((a, b) => a.at - b.at || a.nth - b.nth).map(s => s.here);
  }
  let places = [];

  const runOf = li => li.closest("ol").dataset.run;
  const figureOf = run => parts.get(variant).runs.find(f => f.dataset.run === run);
  const shown = () => parts.get(variant).runs.filter(f => !f.hidden);

  function layOut() {
    for (const v of variants) v.hidden = v !== variant;
    const { stage, runs, told, steps } = parts.get(variant);
    if (player.parentElement !== stage) stage.prepend(player);
    stage.classList.toggle("both", mode === "both");
    if (mode !== "both" && !steps.has(mode)) mode = runs[0].dataset.run;
    for (const part of [...runs, ...told]) part.hidden = mode !== "both" && part.dataset.run !== mode;
    for (const r of radios) {
      r.checked = r.value === mode;
      r.disabled = r.value === "both" ? runs.length < 2 : !steps.has(r.value);
    }
    for (const a of all(".variants a")) {
      if (a.hash === "#" + variant.id) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
    places = stops();
  }

  // In both runs the one that has no step here stays where it was.
  function current(run) {
    for (let i = position; i >= 0; i--) {
      const li = places[i].find(li => runOf(li) === run);
      if (li) return li;
    }
    return null;
  }

  function mark(figure, li) {
    const svg = figure.querySelector("svg"), cursor = svg.querySelector(".cursor");
    const curtain = curtains.get(figure);
    for (const m of all(".message.on", svg)) m.classList.remove("on");
    if (!li) { cursor.classList.remove("at"); curtain.open(0, 0); return; }
    const from = Number(li.dataset.from), to = Number(li.dataset.x);
    const steps = parts.get(variant).steps.get(figure.dataset.run), step = steps.indexOf(li);
    if (step === steps.length - 1) curtain.move(curtain.width, Infinity);
    else curtain.move(to + 2, Math.max(...steps.slice(0, step + 1).map(s => Number(s.dataset.last))));
    cursor.setAttribute("x", from - 2);
    cursor.setAttribute("width", to - from + 4);
    cursor.classList.add("at");
    const first = Number(li.dataset.first), last = Number(li.dataset.last);
    for (const m of svg.querySelectorAll(".message")) {
      const s = Number(m.dataset.s), d = Number(m.dataset.d);
      if (s >= first && s <= last || d >= first && d <= last) m.classList.add("on");
    }
    const view = figure.querySelector(".scroller"), labels = 110;
    if (to < view.scrollLeft + labels + 30 || to > view.scrollLeft + view.clientWidth - 60)
      view.scrollLeft = to - labels - (view.clientWidth - labels) / 2;
  }

  // inView brings the player and the diagram below it into view, if they are not there.
  function inView() {
    const box = parts.get(variant).stage.getBoundingClientRect();
    if (box.top < 0 || box.height > innerHeight && box.top > 0) player.scrollIntoView({ block: "start" });
    else if (box.bottom > innerHeight) parts.get(variant).stage.scrollIntoView({ block: box.height > innerHeight ? "start" : "end" });
  }

  function go(to) {
    if (!places.length) return;
    position = Math.max(0, Math.min(places.length - 1, to));
    for (const li of all("li[aria-current]", variant)) li.removeAttribute("aria-current");
    for (const figure of shown()) {
      const li = current(figure.dataset.run);
      const steps = parts.get(variant).steps.get(figure.dataset.run), step = steps.indexOf(li);
      mark(figure, li);
      for (const [i, other] of steps.entries()) other.classList.toggle("ahead", i > step);
      const told = parts.get(variant).told.find(t => t.dataset.run === figure.dataset.run);
      states.get(told.querySelector(".state"))(step);
      if (!li) continue;
      li.setAttribute("aria-current", "step");
      const list = li.closest(".list");
      if (li.offsetTop < list.scrollTop || li.offsetTop + li.offsetHeight > list.scrollTop + list.clientHeight)
        list.scrollTop = li.offsetTop - list.clientHeight / 2;
    }
    say();
  }

  function say() {
    const said = [];
    const here = places[position];
    const alike = here.length === 2 && here[0].textContent === here[1].textContent;
    for (const li of alike ? here.slice(0, 1) : here) {
      const p = document.createElement("p");
      if (mode === "both" && !alike) {
        const run = document.createElement("span");
        run.className = "soft";
        run.textContent = radios.find(r => r.value === runOf(li)).parentElement.textContent.trim() + ": ";
        p.append(run);
      }
      for (const child of li.childNodes) if (!child.matches?.(".wait")) p.append(child.cloneNode(true));
      said.push(p);
    }
    now.replaceChildren(...said);
    detail.textContent = "";
    count.textContent = "step " + (position + 1) + " of " + places.length;
  }

  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => position + 1 < places.length ? go(position + 1) : play(false), 1100) : 0;
    playButton.setAttribute("aria-pressed", String(!!on));
    playButton.textContent = on ? "❚❚ pause" : "▶ play";
  }

  // choose shows another run, at the moment at which the player stands.
  function choose(next) {
    const here = places[position] && places[position][0];
    const at = here ? Number(here.dataset.at) : 0;
    mode = next;
    layOut();
    let i = places.findIndex(p => p.includes(here));
    if (i < 0) i = places.findLastIndex(p => Number(p[0].dataset.at) <= at);
    go(Math.max(0, i));
  }

  // message moves the focus from message to message of the first run that is shown.
  function message(by) {
    const list = all("g.message:not(.ahead)", shown()[0]);
    if (!list.length) return;
    const at = list.indexOf(document.activeElement);
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
    next.focus({ preventScroll: true });
    const view = next.closest(".scroller"), box = next.getBoundingClientRect(), frame = view.getBoundingClientRect();
    if (box.left < frame.left + 110 || box.right > frame.right) view.scrollLeft += box.left - frame.left - frame.width / 2;
  }

  const does = {
    first: () => go(0), last: () => go(places.length - 1),
    back: () => go(position - 1), next: () => go(position + 1),
    play: () => { if (!timer && position + 1 >= places.length) go(0); play(!timer); },
  };
  function press(what) {
    if (what !== "play") play(false);
    does[what]();
    inView();
  }
  for (const button of all("button[data-do]", player)) button.addEventListener("click", () => press(button.dataset.do));
  for (const r of radios) {
    r.addEventListener("change", () => choose(r.value));
    // Who has clicked on it goes on with the keys of the player; who came with the keyboard
    // stays on it.
    r.addEventListener("click", e => { if (e.detail) r.blur(); });
  }
  keys.addEventListener("click", e => { if (e.detail) keys.blur(); });

  document.addEventListener("keydown", e => {
    const on = e.target instanceof Element ? e.target : document.body;
    if (!keys.checked || e.altKey || e.ctrlKey || e.metaKey) return;
    const what = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", " ": "play" }[e.key];
    if (e.key === "f" || e.key === "F") choose(another());
    else if (on.matches("input") || on.closest(".scroll")) return; // there the arrows have work to do
    else if (e.shiftKey && e.key === "ArrowRight") message(1);
    else if (e.shiftKey && e.key === "ArrowLeft") message(-1);
    else if (what === "play" && on.closest("a, button, summary")) return;
    else if (what) press(what);
    else return;
    e.preventDefault();
  });

  // another is what F shows next.
  function another() {
    let i = modes.indexOf(mode);
    do i = (i + 1) % modes.length; while (radios[i].disabled);
    return modes[i];
  }

  // tell says what a message or a bar is, while it is pointed at or has the focus.
  function tell(e) {
    const what = e.target instanceof Element && e.target.closest("svg.diagram g");
    const title = what && what.querySelector(":scope > title");
    if (title) detail.textContent = title.textContent;
  }
  document.addEventListener("mouseover", tell);
  document.addEventListener("focusin", tell);

  // show follows a link to a variant, to a run, or to the moment at which a property
  // broke.
  function show(id, link) {
    const target = id && document.getElementById(id);
    const owner = target && target.closest("section.variant");
    if (!owner) return false;
    play(false);
    variant = owner;
    const figure = target.closest("figure.run");
    if (figure && mode !== "both" || figure && !link) mode = figure.dataset.run;
    layOut();
    const from = link || all(".verdict a", variant).find(a => a.hash === "#" + id);
    if (from && from.dataset.step !== undefined) {
      const li = parts.get(variant).steps.get(from.dataset.run)[Number(from.dataset.step)];
      go(places.findIndex(p => p.includes(li)));
      figure.querySelector(".scroller").focus({ preventScroll: true });
      player.scrollIntoView({ block: "start" });
      const flag = document.getElementById(id), view = figure.querySelector(".scroller");
      view.scrollTop += flag.getBoundingClientRect().top - view.getBoundingClientRect().top - 40;
    } else {
      go(0);
      if (target !== variant) player.scrollIntoView({ block: "start" });
    }
    return true;
  }
  document.addEventListener("click", e => {
    const link = e.target instanceof Element && e.target.closest(".verdict a, .variants a");
    if (!link || !show(link.hash.slice(1), link)) return;
    e.preventDefault();
    history.replaceState(null, "", link.hash);
  });
  addEventListener("hashchange", () => show(location.hash.slice(1)));

  for (const m of all(".message")) { m.setAttribute("tabindex", "-1"); m.setAttribute("role", "img"); }
  // The names of the lanes stay in sight.
  for (const view of all(".run .scroller")) {
    const labels = view.querySelector(".labels");
    view.addEventListener("scroll", () => {
      labels.setAttribute("transform", "translate(" + view.scrollLeft + ")");
      if (mode === "both") for (const f of shown()) {
        const other = f.querySelector(".scroller");
        if (other !== view && other.scrollLeft !== view.scrollLeft) other.scrollLeft = view.scrollLeft;
      }
    }, { passive: true });
  }

  // A picture that goes on to the right fades there.
  for (const view of all(".scroller")) {
    const fade = () => view.classList.toggle("more", view.scrollLeft + view.clientWidth < view.scrollWidth - 1);
    view.addEventListener("scroll", fade, { passive: true });
    new ResizeObserver(fade).observe(view);
  }

  // A term shows its meaning while it is pointed at or has the focus, until Escape.
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "meaning";
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const meanings = JSON.parse(document.querySelector("script.meanings").textContent);
  let explained = null;
  function explain(term) {
    if (explained) explained.removeAttribute("aria-describedby");
    explained = term;
    tip.hidden = !term;
    if (!term) return;
    tip.textContent = meanings[term.textContent];
    term.setAttribute("aria-describedby", tip.id);
    const box = term.getBoundingClientRect(), below = box.bottom + 6;
    tip.style.left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (below + tip.offsetHeight <= innerHeight ? below : Math.max(0, box.top - 6 - tip.offsetHeight)) + "px";
  }
  for (const term of all(".term")) {
    for (const event of ["pointerenter", "focus", "click"]) term.addEventListener(event, () => explain(term));
    term.addEventListener("blur", () => explain(null));
    term.addEventListener("pointerleave", e => { if (e.relatedTarget !== tip) explain(null); });
  }
  tip.addEventListener("pointerleave", () => explain(null));
  addEventListener("keydown", e => { if (e.key === "Escape") explain(null); });
  addEventListener("scroll", () => explain(explained), { passive: true });

  layOut();
  if (!show(location.hash.slice(1))) go(0);
})();
