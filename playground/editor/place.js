// Where in a YAML file the cursor is. A file that somebody is typing is mostly not valid, so this
// goes by the indentation of the lines, and by the braces of the line of the cursor.

// placeAt returns the place of the text's end, where the cursor is:
//
//   path     the names of the fields that lead to the mapping or the list around it; "-" is an
//            entry of a list
//   key      the field whose value is being typed; null if a field is being typed
//   typed    what has been typed of the field or of the value
//   present  the other fields of the same mapping, before and after the cursor
//
// It returns null in a comment and in a text of several lines.
export function placeAt(before, after = "") {
  const lines = before.split("\n"), current = lines.pop();
  if (/(^|\s)#/.test(current) || isInText(lines, current)) return null;
  const head = current.match(/^(\s*)((?:-\s+)*)(.*)$/);
  const dashes = (head[2].match(/-/g) || []).length;
  let column = head[1].length + head[2].length, rest = head[3];
  let path = enclosing(lines, head[1].length, dashes > 0);
  for (let i = 0; i < dashes; i++) path.push("-");
  let present = siblings(lines, after.split("\n").slice(1), dashes ? column : head[1].length, dashes > 0);

  // Mappings in braces, one within the other.
  for (let open; (open = rest.match(/^\s*(?:([^\s:{}[\],][^:{}[\],]*):\s+)?\{/));) {
    let end = matching(rest, open[0].length);
    if (end >= 0) { // it ends before the cursor
      rest = rest.slice(end + 1);
      break;
    }
    if (open[1]) path.push(open[1]);
    rest = rest.slice(open[0].length);
    const entries = split(rest);
    present = [...entries.slice(0, -1), ...split(after.split("\n")[0].replace(/\}.*$/, ""))].map(nameOf).filter(Boolean);
    rest = entries.at(-1);
  }
  const field = rest.match(/^\s*([^\s:{}[\],][^:{}[\],]*):(?:\s+(.*))?$/);
  if (field && field[2] === undefined) return null; // just behind the colon, without a space
  if (!field) return /^[\w-]*$/.test(rest.trim()) ? {path, key: null, typed: rest.trimStart(), present: present.filter(Boolean)} : null;
  const list = (field[2] || "").match(/^\[(?:.*,)?\s*([^,\]]*)$/);
  if (list) return {path: [...path, field[1]], key: "-", typed: list[1], present: []};
  return {path, key: field[1], typed: field[2] || "", present: []};
}

const indentOf = line => line.match(/^\s*/)[0].length;
const isBlank = line => /^\s*(#.*)?$/.test(line);
const nameOf = entry => entry.match(/^\s*(?:-\s+)*([^\s:{}[\],][^:{}[\],]*):(\s|$)/)?.[1];

// enclosing returns the path of the mapping or list in which a line with an indentation is.
function enclosing(lines, indent, isEntry) {
  const path = [];
  for (const line of [...lines].reverse()) {
    if (isBlank(line)) continue;
    const own = indentOf(line), dash = line.match(/^(\s*)((?:-\s+)+)/);
    const column = dash ? dash[0].length : own;
    // An entry of a list may have the indentation of the field that has the list.
    if (dash && own < indent && column <= indent) {
      if (column < indent) path.unshift(nameOf(line) || "?");
      path.unshift("-");
      indent = own;
      isEntry = true;
    } else if (!dash && (own < indent || isEntry && own === indent)) {
      const name = nameOf(line);
      if (!name) continue;
      path.unshift(name);
      indent = own;
      isEntry = false;
    }
    if (indent === 0 && !isEntry) break;
  }
  return path;
}

// siblings returns the fields at a column that belong to the same mapping as the cursor's line.
// An entry of a list begins with its own dash.
function siblings(above, below, column, isFirst) {
  const found = [];
  const scan = (lines, hasDash) => {
    for (const line of lines) {
      if (isBlank(line)) continue;
      const dash = line.match(/^\s*(?:-\s+)+/), at = dash ? dash[0].length : indentOf(line);
      if (at === column && (!dash || hasDash)) found.push(nameOf(line));
      if (at < column || dash && at === column || dash && indentOf(line) < column && at !== column) break;
    }
  };
  if (!isFirst) scan([...above].reverse(), true);
  scan(below, false);
  return found.filter(Boolean);
}

// isInText reports whether the line is in a text of several lines, which begins with | or >.
function isInText(lines, current) {
  let indent = isBlank(current) ? current.length : indentOf(current);
  for (const line of [...lines].reverse()) {
    if (isBlank(line) || indentOf(line) >= indent) continue;
    indent = indentOf(line);
    if (/:\s+[|>][-+]?\d*\s*(#.*)?$/.test(line)) return true;
    if (indent === 0) return false;
  }
  return false;
}

// matching returns where the brace that was opened before a position is closed; -1 if it is not.
function matching(text, from) {
  for (let depth = 1, i = from; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}

// split splits the entries of a mapping in braces at the commas that are in no inner one.
function split(text) {
  const entries = [""];
  let depth = 0;
  for (const c of text) {
    if ("{[".includes(c)) depth++;
    if ("}]".includes(c)) depth--;
    if (c === "," && depth === 0) entries.push("");
    else entries[entries.length - 1] += c;
  }
  return entries;
}
