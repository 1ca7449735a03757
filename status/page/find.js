// The search for one lock. The masters are asked about it every two seconds as
// long as somebody looks.
"use strict";

const SHOWN = 5; // of those that wait
let wanted = null; // the lock that is looked for
let next = 0; // the timer of the next look

const STATEWORDS = { held: "● held", free: "○ free", ending: "◔ ending", undecided: "✕ undecided", unknown: "? unknown" };

function drawFound(l) {
  const waiting = l.waiting.slice(0, SHOWN).map((w) =>
    el("li", "", ...client(w), el("small", "", w.blocked ? "waits for a signal" : "asked " + span(w.asked) + " ago")));
  const more = l.waiting.length - waiting.length;
  if (more > 0) waiting.push(el("li", "none", "and " + more + (l.more ? " or more" : "") + " others"));
  const holder = l.holder ? client(l.holder) : l.state === "held" ? el("span", "none", "taken through another redlockd, or not remembered") : "–";
  drawTable("found", [row([inDB(l.db, l.key)], [[el("strong", l.state, STATEWORDS[l.state] || l.state), l.why ? el("small", "why", l.why) : null]],
    [holder, l.owner ? el("small", "", "owner " + l.owner + ", " + l.count + " times") : null], [l.holder ? (l.holder.taken ? "" : "more than ") + span(l.holder.age) : "–", "n"], [l.left > 0 ? span(l.left) : "–", "n"],
    [waiting.length ? el("ul", "waiters", ...waiting) : el("span", "none", "nobody, through this redlockd")])], "");
  $("found-box").hidden = false;
}

async function find() {
  clearTimeout(next);
  const asked = wanted;
  if (!asked) return;
  if (!document.hidden) {
    try {
      const answer = await fetch(beside("lock?" + new URLSearchParams(asked)));
      if (asked !== wanted) return; // another lock by now
      if (answer.ok) drawFound(await answer.json());
      say("find-say", answer.ok ? "" : await answer.text());
    } catch {
      say("find-say", "redlockd does not answer");
    }
  }
  clearTimeout(next);
  next = setTimeout(find, 2000);
}

$("find").addEventListener("submit", (e) => {
  e.preventDefault();
  wanted = { key: $("find-key").value, db: $("find-db").value };
  find();
});
$("find-key").addEventListener("search", () => { // the field was cleared
  if ($("find-key").value) return;
  wanted = null;
  $("found-box").hidden = true;
  say("find-say", "");
});
addEventListener("click", (e) => {
  const lock = e.target instanceof Element && e.target.closest("button.lock");
  if (!lock) return;
  $("find-key").value = lock.dataset.key;
  $("find-db").value = lock.dataset.db;
  $("find-key").focus();
  $("find").requestSubmit();
});
