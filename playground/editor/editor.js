// The editor of the scenario: CodeMirror, with completion from the schema.

import {autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap} from "@codemirror/autocomplete";
import {defaultKeymap, history, historyKeymap} from "@codemirror/commands";
import {yaml} from "@codemirror/lang-yaml";
import {HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting} from "@codemirror/language";
import {setDiagnostics} from "@codemirror/lint";
import {EditorState} from "@codemirror/state";
import {EditorView, highlightActiveLineGutter, keymap, lineNumbers} from "@codemirror/view";
import {tags} from "@lezer/highlight";

import {options} from "./complete.js";

// The colours are those of the page, so they follow its light and dark.
const theme = EditorView.theme({
  "&": {color: "var(--ink)", backgroundColor: "var(--page)", border: "1px solid var(--soft)", borderRadius: ".35em", maxHeight: "34rem"},
  "&.cm-focused": {outline: "3px solid var(--focus)", outlineOffset: "2px"},
  ".cm-scroller": {font: '.9rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace', overflow: "auto"},
  ".cm-content": {caretColor: "var(--ink)", minHeight: "20rem"},
  ".cm-gutters": {color: "var(--soft)", backgroundColor: "var(--panel)", borderRight: "1px solid var(--line)"},
  ".cm-activeLineGutter": {color: "var(--ink)", backgroundColor: "var(--panel)"},
  ".cm-tooltip": {color: "var(--ink)", backgroundColor: "var(--panel)", border: "1px solid var(--soft)"},
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {color: "var(--page)", backgroundColor: "var(--link)"},
  ".cm-completionInfo": {maxWidth: "22rem"},
  ".cm-diagnostic": {borderLeft: "4px solid var(--bad)", padding: ".3em .6em"},
  ".cm-lintRange-error": {backgroundImage: "none", textDecoration: "underline wavy var(--bad)"},
});

const colours = HighlightStyle.define([
  {tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)"},
  {tag: [tags.string, tags.content, tags.attributeValue], color: "var(--ink)"},
  {tag: tags.comment, color: "var(--soft)", fontStyle: "italic"},
  {tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace, tags.keyword, tags.meta], color: "var(--doubt)"},
]);

// open shows an editor in an element, and returns its controls:
//
//   text()             the text
//   replace(text)      makes another text the current one; onInput is not called
//   select(line, column)  moves the cursor and the focus there; both count from 1
//   mark(mistakes)     underlines mistakes, each with its line, column and text
//
// The editor is in a shadow root, because its styles need no exception from the page's content
// security policy there.
export function open(element, {text, label, schema, onInput}) {
  const root = element.attachShadow({mode: "open"});
  let isQuiet = false;
  const state = text => EditorState.create({doc: text, extensions: [
    lineNumbers(), highlightActiveLineGutter(), history(), bracketMatching(), closeBrackets(),
    // The key Tab leaves the editor, as it leaves every other field of the page.
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    yaml(), syntaxHighlighting(colours), indentUnit.of("  "), theme,
    autocompletion({icons: false, override: [context => complete(schema, context)]}),
    EditorView.contentAttributes.of({"aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off"}),
    EditorView.updateListener.of(update => { if (update.docChanged && !isQuiet) onInput(update.state.doc.toString()); }),
  ]});
  const view = new EditorView({state: state(text), parent: root, root});
  const at = (line, column) => {
    const found = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
    return Math.min(found.from + Math.max((column || 1) - 1, 0), found.to);
  };
  return {
    text: () => view.state.doc.toString(),
    replace(text) {
      if (text === view.state.doc.toString()) return;
      isQuiet = true;
      view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
      isQuiet = false;
    },
    select(line, column) {
      view.focus();
      view.dispatch({selection: {anchor: at(line, column)}, scrollIntoView: true});
    },
    mark(mistakes) {
      view.dispatch(setDiagnostics(view.state, mistakes.map(m => {
        const from = at(m.line, m.column), end = view.state.doc.lineAt(from).to;
        return {from: Math.min(from, end), to: end, severity: "error", message: m.text};
      })));
    },
  };
}

function complete(schema, context) {
  const text = context.state.doc.toString(), found = options(schema, text.slice(0, context.pos), text.slice(context.pos));
  // Without being asked, the editor offers something only where something has been typed.
  if (!found || !context.explicit && found.from === context.pos) return null;
  return {...found, validFor: /^[\w-]*$/};
}
