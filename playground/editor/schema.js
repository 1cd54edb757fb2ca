// What the JSON Schema of scenario files allows at a place of a file.

// nodesAt returns the schemas that describe the value at a path: names of fields, and "-" for an
// entry of a list. Where the schema has alternatives, all are returned.
export function nodesAt(root, path) {
  let nodes = expand(root, root);
  for (const step of path) {
    nodes = nodes.flatMap(node => {
      const next = step === "-" ? node.items : node.properties?.[step] ?? node.additionalProperties;
      return next && typeof next === "object" ? expand(root, next) : [];
    });
  }
  return nodes;
}

// expand returns a schema, with what it refers to and its alternatives as schemas of their own.
function expand(root, node) {
  if (node.$ref) {
    const target = node.$ref.replace(/^#\//, "").split("/").reduce((at, name) => at[name], root);
    return expand(root, target).map(found => ({...found, description: node.description || found.description}));
  }
  const parts = [...(node.oneOf || []), ...(node.anyOf || [])].filter(part => typeof part === "object");
  return parts.length === 0 ? [node] : [node, ...parts.flatMap(part => expand(root, part))];
}

// fieldsOf returns the fields that a mapping may have beside those that it has. Of alternatives,
// such as the kinds of faults, only those count that allow all the fields that are there. A field
// that none of them knows is a mistake, and decides nothing.
export function fieldsOf(nodes, present) {
  const mappings = nodes.filter(node => node.properties);
  const known = present.filter(name => mappings.some(node => node.properties[name]));
  const fitting = mappings.filter(node => known.every(name => node.properties[name] || node.additionalProperties));
  const fields = new Map();
  for (const node of fitting) {
    for (const [name, value] of Object.entries(node.properties)) {
      if (!present.includes(name) && !fields.has(name)) fields.set(name, value.description || "");
    }
  }
  return fields;
}

// valuesOf returns the values that the schemas name: all that are allowed, or examples.
export function valuesOf(nodes) {
  const values = new Set();
  for (const node of nodes) {
    for (const value of [...(node.enum || []), ...("const" in node ? [node.const] : []), ...(node.examples || [])]) values.add(String(value));
    if (node.type === "boolean") ["true", "false"].forEach(value => values.add(value));
  }
  return [...values];
}
