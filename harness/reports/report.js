"use strict";
// Filters and links of the report. It reads attributes that hold numbers only, and writes no markup.
(() => {
  const form = document.getElementById("filters");
  const controls = [...form.querySelectorAll("[data-filter]")];
  const selects = controls.filter((control) => control.dataset.filter !== "text");
  const search = controls.find((control) => control.dataset.filter === "text");
  const output = form.querySelector("output");
  const episodes = [...document.querySelectorAll("article.episode")];
  const texts = new Map();

  function textOf(episode) {
    if (!texts.has(episode)) texts.set(episode, episode.textContent.toLowerCase());
    return texts.get(episode);
  }

  function matches(episode, wanted, words) {
    for (const [name, value] of wanted) {
      if (!episode.dataset[name].split(" ").includes(value)) return false;
    }
    return words.every((word) => textOf(episode).includes(word));
  }

  function apply() {
    const wanted = selects.filter((select) => select.value).map((select) => [select.dataset.filter, select.value]);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const episode of episodes) {
      episode.hidden = !matches(episode, wanted, words);
      if (!episode.hidden) shown += 1;
    }
    output.textContent = `${shown} of ${episodes.length} episodes shown`;
  }

  function clear() {
    for (const control of controls) control.value = "";
    apply();
  }

  function setOpen(isOpen) {
    for (const episode of episodes) {
      if (!isOpen || !episode.hidden) episode.querySelector("details").open = isOpen;
    }
  }

  function follow() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    const episode = target === null ? null : target.closest("article.episode");
    if (episode === null) return;
    if (episode.hidden) clear();
    for (let fold = target; fold !== episode; fold = fold.parentElement) {
      if (fold.tagName === "DETAILS") fold.open = true;
    }
    episode.querySelector("details").open = true;
    target.scrollIntoView();
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 150);
  });
  for (const select of selects) select.addEventListener("change", apply);
  const acts = { clear, open: () => setOpen(true), close: () => setOpen(false) };
  for (const button of form.querySelectorAll("[data-act]")) {
    button.addEventListener("click", acts[button.dataset.act]);
  }
  addEventListener("hashchange", follow);
  form.hidden = false;
  // A browser may restore what was chosen before a reload.
  apply();
  follow();
})();
