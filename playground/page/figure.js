// The figure: the engine says where everything is, and this file draws it.

const space = "http://www.w3.org/2000/svg";

// element returns an SVG element. Attributes without a value are left out.
function element(name, attributes) {
  const e = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) if (value) e.setAttribute(key, value);
  return e;
}

// draw returns the figure as SVG. title is its text for screen readers.
export function draw(figure, title) {
  const svg = element("svg", {class: "diagram storyboard", viewBox: `0 0 ${figure.width} ${figure.height}`, role: "img", "aria-label": title});
  svg.append(element("rect", {class: "paper", width: figure.width, height: figure.height}));
  for (const s of figure.shapes) {
    svg.append(s.path ? element("path", {class: s.class, d: s.path})
      : element("rect", {class: s.class, x: s.x || "0", y: s.y || "0", width: s.w, height: s.h, rx: s.corner}));
  }
  for (const t of figure.texts) {
    const text = element("text", {class: t.class, x: t.x || "0", y: t.y || "0", "font-size": t.size, "font-weight": t.bold && "700", "text-anchor": t.anchor});
    text.textContent = t.line;
    svg.append(text);
  }
  return svg;
}
