// Everything that happened in the runs, in words. It is long, and the engine runs the world again
// for it, so the page asks for it only while its block is open.

function make(name, text = "", className = "") {
  const e = document.createElement(name);
  e.textContent = text;
  e.className = className;
  return e;
}

export class Timeline {
  // ask asks the engine for the timelines of the world that is shown, with every message if its
  // argument is true.
  constructor({box, all, note, list, ask}) {
    Object.assign(this, {box, all, note, list, ask});
    box.addEventListener("toggle", () => this.show());
    all.addEventListener("change", () => this.show());
    this.asked = 0;
  }

  // show shows the timelines of the current world, if the block is open. What it showed of
  // another world vanishes.
  async show() {
    const asked = ++this.asked;
    this.box.dataset.state = "waiting";
    if (!this.box.open) {
      this.list.replaceChildren();
      return;
    }
    let answer;
    try {
      answer = await this.ask(this.all.checked);
    } catch (e) {
      answer = {problems: [{text: e.message}]};
    }
    if (asked !== this.asked) return;
    const parts = answer.parts || [];
    this.list.replaceChildren(...parts.flatMap(part => this.part(part, answer.replay)));
    const rows = parts.reduce((n, part) => n + part.rows.length, 0);
    this.note.textContent = answer.problems ? answer.problems.map(p => p.text).join(" ")
      : `${rows} ${rows === 1 ? "row" : "rows"}. ${this.all.checked ? "" : "What repeats is merged, and messages are left out."}`;
    this.box.dataset.state = "complete";
  }

  part({runs, rows, leftOut}, replay) {
    const ol = make("ol", "", "timeline");
    ol.append(...folded(rows));
    const shown = [make("h3", runs.length > 1 ? "In both runs" : runs[0]), ol];
    if (leftOut) {
      const p = make("p", `${leftOut} more rows are not shown here. This command shows them: `, "soft");
      p.append(make("code", replay));
      shown.push(p);
    }
    return shown;
  }
}

// Of a long timeline the page shows so many rows at the beginning and at the end, and so many
// around each row with a mark. A button stands for each stretch of the others.
const atBeginning = 40, atEnd = 20, aroundMark = 2, shortestStretch = 5;

// folded returns the elements of rows.
function folded(rows) {
  const isShown = (_, i) => i < atBeginning || i >= rows.length - atEnd || rows.slice(Math.max(0, i - aroundMark), i + aroundMark + 1).some(r => r.marks);
  const shown = rows.map(isShown), elements = [];
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && shown[end] === shown[i]) end++;
    const stretch = rows.slice(i, end);
    elements.push(...(shown[i] || stretch.length < shortestStretch ? stretch.map(row) : [stretchButton(stretch)]));
    i = end;
  }
  return elements;
}

// stretchButton returns an item with a button that shows rows in its place.
function stretchButton(rows) {
  const li = make("li"), button = make("button", `⋮ Show ${rows.length} more rows, until ${rows.at(-1).at}`);
  button.type = "button";
  button.onclick = () => {
    const items = rows.map(row);
    li.replaceWith(...items);
    items[0].tabIndex = -1; // the focus goes on where the button was
    items[0].focus();
  };
  li.append(button);
  return li;
}

function row({wait, at, who, its, text, class: className, marks = []}) {
  const li = make("li");
  if (wait) li.append(make("span", `⋮ ${wait}`, "wait soft"));
  li.append(make("time", at), " ", make("b", who), its ? ": " : " ", make("span", text, className));
  for (const m of marks) li.append(" ", make("span", m.text, `mark ${m.class}`));
  return li;
}
