// The reader's progress: which chapters were read, and how each question was answered. It is
// kept in this browser, and can be saved to a file.
const progress = {
  name: "locksim-progress",
  empty: () => ({ schema: "locksim/progress/v1", chapters: {}, questions: {} }),
  read() {
    try {
      return this.check(JSON.parse(localStorage.getItem(this.name))) || this.empty();
    } catch {
      return this.empty();
    }
  },
  write(all) {
    try {
      localStorage.setItem(this.name, JSON.stringify(all));
      return true;
    } catch {
      return false;
    }
  },
  // check returns what a file or the browser has stored, or null if it is no progress.
  check(all) {
    const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
    if (!isMap(all) || all.schema !== "locksim/progress/v1" || !isMap(all.chapters) || !isMap(all.questions)) return null;
    const questions = Object.values(all.questions);
    const isScore = (s) => isMap(s) && Number.isInteger(s.right) && Number.isInteger(s.of) && s.right >= 0 && s.right <= s.of;
    return questions.every(isScore) ? all : null;
  },
  text(all, address) {
    const [kind, name] = address.split("/");
    if (kind === "chapters") return Object.hasOwn(all.chapters, name) ? "✓ read" : "";
    const score = Object.hasOwn(all.questions, name) ? all.questions[name] : null;
    return score ? (score.right === score.of ? "✓ " : "") + score.right + " of " + score.of + " right" : "";
  },
};

{
  const said = document.getElementById("said");
  const say = (text) => { if (said) said.textContent = text; };
  const failed = "Your progress cannot be stored: this browser does not allow it.";

  const show = () => {
    const all = progress.read();
    const marks = [...document.querySelectorAll("[data-progress]")];
    for (const mark of marks) mark.textContent = progress.text(all, mark.dataset.progress);
    const count = document.getElementById("count");
    if (count) count.textContent = marks.filter((m) => m.textContent).length + " of " + marks.length + " on this page.";
  };
  show();

  const box = document.getElementById("progress");
  if (box) {
    box.hidden = false;
    document.getElementById("export").addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify(progress.read(), null, 2) + "\n"], { type: "application/json" }));
      link.download = "locksim-progress.json";
      link.click();
      URL.revokeObjectURL(link.href);
      say("Saved as locksim-progress.json.");
    });
    const file = document.getElementById("file");
    document.getElementById("import").addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
      const chosen = file.files[0];
      if (!chosen) return;
      let loaded = null;
      try { loaded = progress.check(JSON.parse(await chosen.text())); } catch { /* it is no JSON */ }
      file.value = "";
      if (!loaded) {
        say(chosen.name + " has no progress of this site. Nothing was changed. Choose a file that this page has saved.");
        return;
      }
      say(progress.write(loaded) ? "Loaded from " + chosen.name + "." : failed);
      show();
    });
    document.getElementById("forget").addEventListener("click", () => {
      say(progress.write(progress.empty()) ? "Forgotten." : failed);
      show();
    });
  }

  const chapter = document.querySelector("[data-chapter]");
  const done = document.getElementById("done");
  if (chapter && done) {
    const name = chapter.dataset.chapter;
    const label = () => { done.textContent = Object.hasOwn(progress.read().chapters, name) ? "Read ✓ (unmark)" : "Mark as read"; };
    done.hidden = false;
    label();
    done.addEventListener("click", () => {
      const all = progress.read();
      if (Object.hasOwn(all.chapters, name)) delete all.chapters[name];
      else all.chapters[name] = true;
      if (!progress.write(all)) say(failed);
      label();
    });
  }
}
