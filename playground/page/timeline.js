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
    ol.append(...rows.map(row));
    const shown = [make("h3", runs.length > 1 ? "In both runs" : runs[0]), ol];
    if (leftOut) {
      const p = make("p", `${leftOut} more rows are not shown here. This command shows them: `, "soft");
      p.append(make("code", replay));
      shown.push(p);
    }
    return shown;
  }
}

function row({wait, at, who, its, text, class: className, marks = []}) {
  const li = make("li");
  if (wait) li.append(make("span", `⋮ ${wait}`, "wait soft"));
  li.append(make("time", at), " ", make("b", who), its ? ": " : " ", make("span", text, className));
  for (const m of marks) li.append(" ", make("span", m.text, `mark ${m.class}`));
  return li;
}
