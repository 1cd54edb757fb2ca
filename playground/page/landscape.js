// The danger map: a row for each moment at which the fault can strike, and a column for each
// size. The engine computes one cell at a time, those near the reader first, and only while the
// page waits for nothing else.

// maps keeps the cells of the last maps by their worlds.
const maps = new Map();
const mostMaps = 8;

export class Landscape {
  // compute asks for one cell, given its world. onGo gets the world of the cell to which the
  // reader goes. onDone is called when no cell is missing.
  constructor({table, legend, progress, compute, onGo, onDone}) {
    Object.assign(this, {table, legend, progress, compute, onGo, onDone});
    table.addEventListener("click", e => {
      const cell = e.target.closest("td");
      if (cell) this.go(Number(cell.dataset.row), Number(cell.dataset.column));
    });
    table.addEventListener("keydown", e => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[e.key];
      const from = e.target.closest("td");
      if (!step || !from) return;
      e.preventDefault();
      const row = Number(from.dataset.row) + step[0], column = Number(from.dataset.column) + step[1];
      if (this.cellAt(row, column)) this.go(row, column);
    });
  }

  cellAt(row, column) { return this.table.querySelector(`td[data-row="${row}"][data-column="${column}"]`); }

  // go goes to a cell.
  go(row, column) {
    this.mark(row, column);
    this.cellAt(row, column).focus({preventScroll: true});
    this.cellAt(row, column).scrollIntoView({block: "nearest", inline: "nearest"});
    this.onGo(this.worldAt(row, column));
  }

  // show shows the map of a world; key is equal for worlds with the same map. worldAt returns the
  // world of a cell, also when the page has gone to another world meanwhile.
  show(key, worldAt, {places, sizes, sizesMs}, ttlMs) {
    if (key !== this.key) {
      Object.assign(this, {key, worldAt});
      if (!maps.has(key)) maps.set(key, new Map());
      if (maps.size > mostMaps) maps.delete(maps.keys().next().value);
      this.known = maps.get(key);
      this.rows = places.length;
      this.columns = sizes.length;
      this.past = sizesMs.findIndex(ms => ms > ttlMs);
      this.build(places, sizes, this.past);
      for (const id of this.known.keys()) this.fill(...id.split(",").map(Number));
      this.explain();
    }
    this.work();
  }

  build(places, sizes, past) {
    const make = (name, text, attributes = {}) => {
      const e = document.createElement(name);
      e.textContent = text;
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      return e;
    };
    const head = document.createElement("tr");
    head.setAttribute("role", "row");
    head.append(make("th", "the fault strikes", {class: "corner", scope: "col", role: "columnheader"}));
    for (const size of sizes) {
      const th = make("th", "", {scope: "col", role: "columnheader"});
      th.append(make("span", size));
      head.append(th);
    }
    const thead = document.createElement("thead"), tbody = document.createElement("tbody");
    thead.setAttribute("role", "rowgroup");
    tbody.setAttribute("role", "rowgroup");
    thead.append(head);
    places.forEach((p, row) => {
      const tr = document.createElement("tr");
      tr.setAttribute("role", "row");
      tr.append(make("th", p.strikes, {scope: "row", role: "rowheader"}));
      sizes.forEach((size, column) => {
        tr.append(make("td", " ", {role: "gridcell", tabindex: "-1", "data-row": row, "data-column": column,
          "data-words": `${p.strikes}, ${size}`, "aria-label": `${p.strikes}, ${size}: not computed yet`, class: column === past ? "past" : ""}));
      });
      tbody.append(tr);
    });
    this.table.replaceChildren(thead, tbody);
  }

  // mark marks the cell at which the world is. If the world is no cell of the map, because its
  // fault has a size between two columns, the nearest cell is marked in another way. The column -1
  // says that none is near.
  mark(row, column, isExact = true) {
    Object.assign(this, {row, column});
    for (const cell of this.table.querySelectorAll("[tabindex='0']")) {
      cell.removeAttribute("aria-selected");
      cell.classList.remove("near");
      cell.tabIndex = -1;
    }
    const cell = this.cellAt(row, column) || this.cellAt(0, 0);
    if (!cell) return;
    cell.tabIndex = 0;
    if (isExact) cell.setAttribute("aria-selected", "true");
    else if (column >= 0) cell.classList.add("near");
    this.reveal(cell);
  }

  // reveal scrolls a narrow map, but not the page, so that a cell is seen beside the names of the
  // rows.
  reveal(cell) {
    const scroller = this.table.parentElement, names = cell.parentElement.firstElementChild.offsetWidth;
    const seen = scroller.scrollLeft + names, end = scroller.scrollLeft + scroller.clientWidth;
    if (cell.offsetLeft < seen) scroller.scrollLeft = cell.offsetLeft - names;
    else if (cell.offsetLeft + cell.offsetWidth > end) scroller.scrollLeft = cell.offsetLeft + cell.offsetWidth - scroller.clientWidth;
  }

  // work computes the cells that are missing, those near the reader first.
  async work() {
    if (this.isWorking) return;
    this.isWorking = true;
    for (let next = this.next(); next; next = this.next()) {
      const key = this.key, known = this.known;
      const answer = await this.compute(this.worldAt(...next));
      known.set(String(next), answer.problems ? {sign: "–", level: "unclear", means: answer.problems[0].text} : answer);
      if (key === this.key) {
        this.fill(...next);
        this.explain();
      }
    }
    this.isWorking = false;
    if (!this.next()) this.onDone();
  }

  next() {
    let best, nearest = Infinity;
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        const distance = 3 * Math.abs(row - (this.row ?? 0)) + Math.abs(column - (this.column ?? 0));
        if (distance < nearest && !this.known.has(`${row},${column}`)) [best, nearest] = [[row, column], distance];
      }
    }
    return best;
  }

  fill(row, column) {
    const cell = this.cellAt(row, column), {sign, level, means} = this.known.get(`${row},${column}`);
    if (!cell) return;
    cell.textContent = sign;
    cell.classList.remove("unharmed", "unclear", "misbehaved", "two-holders", "corrupted", "corrupted-fenced");
    cell.classList.add(level);
    cell.title = `${cell.dataset.words}: ${means}`;
    cell.setAttribute("aria-label", `${sign} ${cell.title}`); // what is seen comes first
  }

  // explain explains the signs, and says how much is still to be computed.
  explain() {
    const total = this.rows * this.columns, done = this.known.size;
    this.progress.textContent = done < total ? `${done} of ${total} worlds have been run.` : `All ${total} worlds have been run.`;
    const seen = new Map([...this.known.values()].map(c => [c.sign, c]));
    const order = ["·", "2", "x", "X", "m", "?", "–"];
    this.legend.replaceChildren(...order.filter(sign => seen.has(sign)).map(sign => {
      const li = document.createElement("li"), box = document.createElement("span"), {level, means} = seen.get(sign);
      box.className = level;
      box.textContent = sign;
      li.append(box, " " + (sign === "–" ? "the world cannot be run; point at the cell to see why" : means));
      return li;
    }));
    if (this.past > 0) {
      const li = document.createElement("li");
      li.textContent = "The vertical line is the TTL.";
      this.legend.append(li);
    }
  }
}
