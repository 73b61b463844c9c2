"use strict";
// Tables: a click on a head sorts by that column, another one the other way round. What is no number sorts as text, last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains("still")) return;
    head.tabIndex = 0;
    const value = row => {
      const cell = row.cells[column], text = (cell.dataset.value ?? cell.textContent).trim();
      const number = parseFloat(text.replace(/,/g, ""));
      return { text, number };
    };
    const sort = () => {
      const numeric = head.classList.contains("n"), down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric;
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map(row => [value(row), row]);
      rows.sort(([a], [b]) => {
        if (!isNaN(a.number) && !isNaN(b.number)) return (a.number - b.number) * (down ? -1 : 1);
        if (isNaN(a.number) !== isNaN(b.number)) return isNaN(a.number) ? 1 : -1;
        return a.text.localeCompare(b.text, undefined, { numeric: true }) * (down ? -1 : 1);
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  });
}
// Methods: whatever is hovered over stands out in its article's figures; a click keeps it.
for (const article of document.querySelectorAll("article")) {
  let kept = null;
  const show = name => {
    article.classList.toggle("lit", Boolean(name));
    for (const part of article.querySelectorAll("svg .on")) part.classList.remove("on");
    if (name) for (const part of article.querySelectorAll("svg ." + name)) part.classList.add("on");
  };
  for (const chip of article.querySelectorAll("[data-m]")) {
    chip.addEventListener("mouseenter", () => show(chip.dataset.m));
    chip.addEventListener("mouseleave", () => show(kept));
    if (chip.tagName !== "BUTTON") continue;
    chip.addEventListener("click", () => {
      kept = kept === chip.dataset.m ? null : chip.dataset.m;
      for (const other of article.querySelectorAll("button[data-m]")) other.setAttribute("aria-pressed", other.dataset.m === kept);
      show(kept);
    });
  }
}
// Printed, everything is open.
let closed = [];
addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("details:not([open])")]; closed.forEach(d => { d.open = true; }); });
addEventListener("afterprint", () => closed.forEach(d => { d.open = false; }));
