// What the editor offers at the cursor, from the JSON Schema of scenario files.

import {placeAt} from "./place.js";
import {fieldsOf, nodesAt, valuesOf} from "./schema.js";

// options returns what can be inserted between two parts of a file: where the insertion begins,
// and the fields or values. It returns null if there is nothing to offer.
export function options(schema, before, after) {
  const place = placeAt(before, after);
  if (!place) return null;
  const from = before.length - place.typed.length, found = [];
  if (place.key === null) {
    for (const [name, description] of fieldsOf(nodesAt(schema, place.path), place.present)) {
      found.push({label: name, apply: name + ": ", type: "property", info: description});
    }
  } else {
    for (const value of valuesOf(nodesAt(schema, [...place.path, place.key]))) found.push({label: value, type: "constant"});
  }
  return found.length > 0 ? {from, options: found} : null;
}
