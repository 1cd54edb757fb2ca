// The text of the scenario. It is edited in a plain text field until the editor has been loaded,
// which is large and fetched only when the reader opens the file. If the playground was built
// without npm, there is no element for the editor, and the text field stays.

export class File {
  constructor(field, element, onInput) {
    [this.field, this.element, this.onInput] = [field, element, onInput];
    field.addEventListener("input", () => onInput());
  }

  get text() { return this.editor ? this.editor.text() : this.field.value; }
  set text(text) {
    if (this.editor) this.editor.replace(text);
    else this.field.value = text;
  }

  get hasFocus() { return [this.field, this.element].includes(document.activeElement); }

  // load puts the editor in the place of the text field. It keeps the text, and the focus.
  load() {
    return this.loading ??= (async () => {
      if (!this.element) return;
      try {
        const [{open}, schema] = await Promise.all([import("./editor.js"), fetch("schema.json").then(answer => answer.json())]);
        const hadFocus = this.hasFocus, {selectionStart: at} = this.field;
        this.element.hidden = false;
        this.editor = open(this.element, {text: this.field.value, label: this.field.labels[0].textContent, schema, onInput: this.onInput});
        this.field.hidden = this.field.labels[0].hidden = true;
        this.editor.mark(this.mistakes || []);
        if (hadFocus) {
          const before = this.field.value.slice(0, at).split("\n");
          this.editor.select(before.length, before.at(-1).length + 1);
        }
      } catch {
        this.element.hidden = true; // without a network, say
      }
    })();
  }

  // goTo moves the focus to a place in the text; line and column count from 1.
  async goTo(line, column) {
    await this.load();
    if (this.editor) return this.editor.select(line, column);
    const before = this.field.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const at = before + Math.max((column || 1) - 1, 0);
    this.field.focus();
    this.field.setSelectionRange(at, at);
  }

  // mark shows mistakes, each with its line, column and text.
  mark(mistakes) {
    this.mistakes = mistakes;
    this.editor?.mark(mistakes);
  }
}
