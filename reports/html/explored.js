// A danger map says what a cell is when it is pointed at. With the keyboard one cell can
// be reached, and the arrow keys lead to the others.
(function () {
  "use strict";
  document.querySelectorAll(".danger").forEach(function (map) {
    var readout = map.querySelector(".readout");
    var heads = map.querySelectorAll("thead th");
    var rows = Array.from(map.querySelectorAll("tbody tr")).filter(function (r) { return r.querySelector("td[title]"); });
    function tell(cell) {
      readout.textContent = cell.parentNode.cells[0].textContent + ", for " + heads[cell.cellIndex].textContent + ": " + cell.title;
    }
    function focus(r, c) {
      var row = rows[Math.max(0, Math.min(rows.length - 1, r))];
      var cell = row.cells[Math.max(1, Math.min(row.cells.length - 1, c))];
      map.querySelectorAll("td[tabindex='0']").forEach(function (td) { td.tabIndex = -1; });
      cell.tabIndex = 0;
      cell.focus();
      tell(cell);
    }
    if (!rows.length) return;
    rows[0].cells[1].tabIndex = 0;
    readout.hidden = false;
    map.addEventListener("pointerover", function (e) { var td = e.target.closest("td[title]"); if (td) tell(td); });
    map.addEventListener("focusin", function (e) { if (e.target.matches("td[title]")) tell(e.target); });
    map.addEventListener("keydown", function (e) {
      var step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
      if (!step || !e.target.matches("td[title]")) return;
      e.preventDefault();
      focus(rows.indexOf(e.target.parentNode) + step[0], e.target.cellIndex + step[1]);
    });
  });
})();
