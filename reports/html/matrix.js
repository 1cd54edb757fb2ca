// The filter of the matrix: by words, which all have to be there, and by sort. Without a
// filter, the rows of a group are shown if the reader opens it.
(function () {
  "use strict";
  var form = document.querySelector("form.filter");
  if (!form) return;
  var said = form.querySelector("[role=status]");
  var open = new Set();
  function toggle(shelf, on) {
    if (on) open.add(shelf); else open.delete(shelf);
    show();
  }
  document.querySelectorAll(".matrix > .shelf").forEach(function (shelf) {
    var title = shelf.querySelector(".shelf-title"), button = document.createElement("button");
    button.type = "button";
    button.className = "shelf-title";
    button.textContent = title.textContent;
    button.addEventListener("click", function () { if (!isFiltered()) toggle(shelf, !open.has(shelf)); });
    title.replaceWith(button);
    if (shelf.dataset.open === "always" || shelf.dataset.open === "wide" && matchMedia("(min-width: 50.01rem)").matches) open.add(shelf);
  });
  function isFiltered() { return form.words.value.trim() !== "" || form.sort.value !== ""; }
  function show() {
    var words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var sort = form.sort.value, filters = isFiltered();
    var all = 0, shown = 0, shelf = null, onShelf = 0;
    function end() {
      if (!shelf) return;
      shelf.hidden = onShelf === 0;
      shelf.querySelector("button").setAttribute("aria-expanded", String(filters || open.has(shelf)));
    }
    document.querySelectorAll(".matrix > tbody").forEach(function (body) {
      if (body.classList.contains("shelf")) {
        end();
        shelf = body; onShelf = 0;
        return;
      }
      var head = body.querySelector(".several"), here = 0;
      var about = shelf.textContent + " " + (head ? head.textContent : "");
      body.querySelectorAll(".story").forEach(function (row) {
        var text = (about + " " + row.textContent).toLowerCase();
        row.hidden = !words.every(function (w) { return text.includes(w); }) ||
          sort !== "" && !row.dataset.sorts.split(" ").includes(sort);
        all++;
        if (!row.hidden) here++;
      });
      body.hidden = here === 0 || !filters && !open.has(shelf);
      onShelf += here; shown += here;
    });
    end();
    said.textContent = shown === all ? "" : shown === 0 ? "No scenario fits." : shown + " of " + all + " shown";
  }
  // A link to a scenario opens its group, and one to something that is folded unfolds it.
  function find() {
    var row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (row && row.matches("details")) row.open = true;
    if (!row || !row.matches(".matrix > .scenario")) return;
    var shelf = row;
    while (shelf && !shelf.classList.contains("shelf")) shelf = shelf.previousElementSibling;
    toggle(shelf, true);
    row.scrollIntoView();
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", function (e) { e.preventDefault(); });
  addEventListener("hashchange", find);
  form.hidden = false;
  show();
  find();
})();
