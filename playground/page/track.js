// The time line with the fault on it, for pointers. Its marks are the moments at which the fault
// can strike, in their order and not to scale; the width of the fault is its size. The sliders
// below do the same by keys.

// The share of the width for the moments; a fault of the largest size takes the rest.
const share = 0.58;

export class Track {
  // onMove gets the number of a moment, onSize a size in milliseconds, and onEnd nothing, when
  // the pointer is released.
  constructor(at, {onMove, onSize, onEnd}) {
    this.at = at;
    const add = (name, to = at) => { const e = document.createElement("div"); e.className = name; to.append(e); return e; };
    add("line");
    this.marks = add("marks");
    this.ttl = add("ttl");
    this.block = add("block");
    this.handle = add("handle", this.block);
    this.follow(this.block, x => onMove(this.nearest(x)), onEnd);
    this.follow(this.handle, x => onSize(this.sizeTo(x)), onEnd);
  }

  // follow calls move with the position of a pointer that drags an element, from 0 to 1.
  follow(element, move, end) {
    element.addEventListener("pointerdown", down => {
      down.stopPropagation();
      down.preventDefault();
      element.setPointerCapture(down.pointerId);
      const box = this.at.getBoundingClientRect();
      const offset = element === this.block ? down.clientX - this.block.getBoundingClientRect().left : 0;
      const onMove = e => move((e.clientX - offset - box.left) / box.width);
      const onUp = () => { element.removeEventListener("pointermove", onMove); end(); };
      element.addEventListener("pointermove", onMove);
      element.addEventListener("pointerup", onUp, {once: true});
      element.addEventListener("pointercancel", onUp, {once: true});
    });
  }

  // show shows the moments, the current one, and the fault.
  show(places, current, fault) {
    Object.assign(this, {places, current, fault});
    const key = places.map(p => p.strikes).join("\n");
    if (key !== this.key) {
      this.key = key;
      this.marks.replaceChildren(...places.map((p, i) => {
        const mark = document.createElement("span");
        mark.style.left = `${this.x(i) * 100}%`;
        mark.title = p.strikes;
        return mark;
      }));
    }
    const left = this.x(current), width = fault.sizePath ? fault.sizeMs / fault.longestMs * (1 - share) : 0;
    this.block.style.left = `${left * 100}%`;
    this.block.style.width = `max(1.4rem, ${Math.min(width, 1 - left) * 100}%)`;
    this.handle.hidden = !fault.sizePath;
    this.ttl.hidden = !fault.sizePath || !fault.ttlMs;
    this.ttl.style.left = `${(left + fault.ttlMs / fault.longestMs * (1 - share)) * 100}%`;
  }

  // x returns the position of a moment, from 0 to 1.
  x(i) { return (i + 0.5) / Math.max(this.places.length, 1) * share; }

  // nearest returns the number of the moment that is nearest to a position.
  nearest(x) {
    const i = Math.round(x / share * this.places.length - 0.5);
    return Math.min(Math.max(i, 0), this.places.length - 1);
  }

  // sizeTo returns the size of a fault that ends at a position: a hundredth of the largest size,
  // or a multiple of it.
  sizeTo(x) {
    const steps = Math.round((x - this.x(this.current)) / (1 - share) * 120);
    return Math.min(Math.max(steps, 1), 120) * this.fault.longestMs / 120;
  }
}
