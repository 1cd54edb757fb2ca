// The state of the page is a world. It is in the part of the address after "#", so that a link
// leads to the same world, and the back button to the one before.

export const initial = () => ({scenario: "gc-pause", text: "", variant: "", lock: "", seed: "1", fencing: "", fault: 1, sets: []});

// read returns the state that an address has.
export function read(hash) {
  const state = initial();
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (name === "set") {
      const at = value.indexOf("=");
      if (at > 0) state.sets.push([value.slice(0, at), value.slice(at + 1)]);
    } else if (name === "fault") state.fault = /^[1-9][0-9]{0,5}$/.test(value) ? Number(value) : 1;
    else if (name === "seed") state.seed = /^[0-9]{1,20}$/.test(value) ? value : "1";
    else if (["scenario", "text", "variant", "lock", "fencing"].includes(name)) state[name] = value;
  }
  return state;
}

// write returns the address of a state.
export function write(state) {
  const q = new URLSearchParams();
  if (state.text) q.set("text", state.text);
  q.set("scenario", state.scenario);
  for (const name of ["variant", "lock", "fencing"]) if (state[name]) q.set(name, state[name]);
  if (state.seed !== "1") q.set("seed", state.seed);
  if (state.fault !== 1) q.set("fault", state.fault);
  for (const [path, value] of state.sets) q.append("set", `${path}=${value}`);
  return "#" + q;
}

// request returns the request for the engine.
export function request(state, kind) {
  return {
    kind, scenario: state.scenario, text: state.text, variant: state.variant, lock: state.lock, seed: state.seed,
    fencing: state.fencing, fault: state.fault, sets: state.sets.map(([path, value]) => `${path}=${value}`),
  };
}

// withSet returns the state with one more override, which replaces those of the same meaning:
// one field says when a fault strikes, and one when it ends.
export function withSet(state, path, value) {
  const groups = [["at", "before", "after", "when"], ["for", "until"]];
  const field = path.match(/^(faults\[\d+\]\.)([a-z]+)$/);
  const group = field && groups.find(g => g.includes(field[2]));
  const replaced = group ? group.map(name => field[1] + name) : [path];
  const sets = state.sets.filter(([other]) => !replaced.includes(other));
  return {...state, sets: value === "" ? sets : [...sets, [path, value]]};
}
