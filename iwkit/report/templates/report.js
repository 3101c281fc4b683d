"use strict";
(() => {
  const episodes = [...document.querySelectorAll("details.episode")];
  const unfold = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const episode = place && place.closest("details");
    if (episode && !episode.open) { episode.open = true; place.scrollIntoView(); }
  };
  document.querySelector(".tools").hidden = episodes.length < 2;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.fold) episodes.forEach((e) => { e.open = button.dataset.fold === "open"; });
    else button.setAttribute("aria-expanded", button.getAttribute("aria-expanded") === "false");
  });
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", () => episodes.forEach((e) => { e.open = true; }));
})();
