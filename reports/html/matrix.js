// The filter of the matrix: by words, which all have to be there, and by sort.
(function () {
  "use strict";
  var form = document.querySelector("form.filter");
  if (!form) return;
  var said = form.querySelector("[role=status]");
  function show() {
    var words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var sort = form.sort.value, all = 0, shown = 0, shelf = null, onShelf = 0;
    document.querySelectorAll(".matrix > tbody").forEach(function (body) {
      if (body.className === "shelf") {
        if (shelf) shelf.hidden = onShelf === 0;
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
      body.hidden = here === 0;
      onShelf += here; shown += here;
    });
    if (shelf) shelf.hidden = onShelf === 0;
    said.textContent = shown === all ? "" : shown + " of " + all + " shown";
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", function (e) { e.preventDefault(); });
  form.hidden = false;
  show();
})();
