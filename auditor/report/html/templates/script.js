"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const filters = byId("filters");
  const rows = [...document.querySelectorAll("[data-finding]")];
  const partitions = [...document.querySelectorAll("[data-partition]")];
  const chosen = { topic: byId("by-topic"), severity: byId("by-severity"), rule: byId("by-rule") };

  const apply = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = Object.entries(chosen).some(([name, box]) => box.value !== "" && row.dataset[name] !== box.value);
      shown += row.hidden ? 0 : 1;
    }
    const asked = Object.values(chosen).some((box) => box.value !== "");
    for (const part of partitions) {
      part.hidden = asked && !part.querySelector("[data-finding]:not([hidden])");
    }
    byId("shown").textContent = `${shown} of ${rows.length} findings shown`;
  };

  const showAll = () => {
    for (const box of Object.values(chosen)) box.value = "";
    apply();
  };

  // A link to a finding that a filter hides shows it, with its evidence.
  const reach = () => {
    const found = byId(decodeURIComponent(location.hash.slice(1)));
    if (!found) return;
    if (filters && found.closest("[hidden]")) showAll();
    for (let around = found.closest("details"); around; around = around.parentElement.closest("details")) {
      around.open = true;
    }
    if (found.matches("[data-finding]")) for (const part of found.querySelectorAll("details")) part.open = true;
    found.scrollIntoView();
  };

  if (filters) {
    filters.hidden = false;
    for (const box of Object.values(chosen)) box.addEventListener("change", apply);
    byId("show-all").addEventListener("click", showAll);
    apply();
  }
  addEventListener("hashchange", reach);
  reach();

  // On paper nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
})();
