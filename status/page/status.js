// The status page. Everything that a client may have chosen (keys, names)
// becomes a text node; nothing here makes HTML of a string.
"use strict";

const STATES = {
  voting:     { sign: "✓", word: "votes" },
  quarantine: { sign: "◔", word: "quarantine" },
  new:        { sign: "○", word: "new" },
  frozen:     { sign: "‖", word: "frozen" },
  down:       { sign: "✕", word: "down" },
  refused:    { sign: "⊘", word: "refused" },
};
const VERDICTS = [
  { key: "won",       word: "won" },
  { key: "held",      word: "held by another" },
  { key: "split",     word: "split", seldom: true },
  { key: "undecided", word: "undecided", seldom: true },
];
const KEPT = 300; // samples of the chart, one a second
const SVG = "http://www.w3.org/2000/svg";

const $ = (id) => document.getElementById(id);
let history = [];
let heard = 0; // when the last event came

// el makes an element; children are elements or texts.
function el(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (c instanceof Node ? c : String(c))));
  return e;
}

function svg(tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

// fill replaces what is in an element, but not under a selection that somebody
// is about to copy, nor under a finger or the keyboard's focus.
let pressed = false;
for (const [type, down] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  addEventListener(type, () => { pressed = down; });
}
function fill(parent, children) {
  const s = document.getSelection();
  if (s && !s.isCollapsed && parent.contains(s.anchorNode)) return;
  if (pressed || (parent !== document.activeElement && parent.contains(document.activeElement))) return;
  parent.replaceChildren(...children);
}

// Times and numbers as people read them.
function span(ms) {
  const s = ms / 1000;
  if (s < 10) return s.toFixed(1) + " s";
  if (s < 100) return Math.floor(s) + " s";
  const m = Math.floor(s / 60);
  if (m < 100) return m + " min " + String(Math.floor(s % 60)).padStart(2, "0") + " s";
  const h = Math.floor(m / 60);
  return h < 48 ? h + " h " + String(m % 60).padStart(2, "0") + " min" : Math.floor(h / 24) + " d " + (h % 24) + " h";
}

function latency(us) {
  if (us < 0) return "–";
  return us < 1000 ? us + " µs" : us < 100000 ? (us / 1000).toFixed(1) + " ms" : Math.round(us / 1000) + " ms";
}

const count = (n) => n.toLocaleString("en");

// number is for rates.
function number(n) {
  return n >= 10 || n === 0 ? Math.round(n).toLocaleString("en") : n.toFixed(1);
}

const percent = (part) => (part < 0 ? "–" : part > 0 && part < 0.01 ? "< 1 %" : Math.round(part * 100) + " %");
const inDB = (db, key) => [db ? el("span", "db", "db" + db) : null, el("code", "", key)];

// lockOf is a lock of a list, which a click looks up (find.js).
function lockOf(r) {
  if (!r.exact) return inDB(r.db, r.key);
  const button = el("button", "lock", ...inDB(r.db, r.key));
  button.type = "button";
  button.dataset.key = r.key;
  button.dataset.db = r.db;
  return [button];
}
const client = (r) => [...who(r), el("span", "address", r.address)];
const who = (r) => [el("strong", "", r.name || "unnamed"), r.user && r.user !== "default" ? el("span", "user", r.user) : null];

function drawVerdict(s) {
  const all = s.masters.length;
  const vote = s.voting + " of " + all + " masters vote, " + s.quorum + " needed";
  let state = "good", sign = "✓", text = "Ready: " + vote;
  if (!s.ready) [state, sign, text] = ["bad", "✕", "Locks are refused: " + vote];
  else if (s.voting < all) [state, sign, text] = ["warn", "!", "Ready with " + (s.voting - s.quorum) + " to spare: " + vote];
  $("verdict").className = state;
  say("verdict", sign + " " + text);
  say("uptime", "up " + span(s.up) + (s.phase && s.phase !== "final" ? " · list of masters " + s.generation + ": " + s.phase : ""));
  document.title = sign + " " + s.voting + "/" + all + " redlockd";
  $("dev").hidden = !s.dev;
}

const ORDINALS = ["", "first", "second", "third", "fourth"];
const named = (list) => (list.length < 2 ? list.join("") : list.slice(0, -1).join(", ") + " or " + list[list.length - 1]);

// drawOutage says when locks can be taken again, and what to do.
function drawOutage(s) {
  const o = s.outlook;
  $("outage").hidden = $("advice").hidden = !o;
  if (!o) return;
  let text = "Service resumes in " + span(o.wait) + " at the earliest";
  if (o.more > 0) text = "Service resumes when " + (o.more > 1 ? o.more + " more of the masters vote: " : "one more master votes: ") + named(o.missing);
  else if (o.master) text += ": then " + o.master + " votes, the " + (ORDINALS[s.quorum] || "last") + " master";
  say("outlook", text + ".");
  $("hint").hidden = !o.hint;
  say("hint", o.hint ? "To end the wait, " + o.hint + "." : "");
  const states = new Set(s.masters.map((m) => m.state));
  for (const e of document.querySelectorAll("#advice [data-for]")) {
    e.hidden = e.dataset.for === "silence" ? s.masters.some((m) => m.state !== "voting") : !states.has(e.dataset.for);
  }
}

const LEVELS = { error: "✕", warn: "!", info: "·" };

// drawEvents lists the latest lines of the log, the newest first.
function drawEvents(s) {
  fill($("lately"), s.events.map((e) => {
    const at = new Date(e.at);
    const time = el("time", "", at.toLocaleTimeString("en-GB"));
    time.dateTime = at.toISOString();
    time.title = at.toLocaleString();
    return el("li", e.level, time, " ", el("b", "sign", LEVELS[e.level] || "·"), " ", el("span", "text", e.text), " ",
      el("span", "fields", e.fields.map((f) => f.key + "=" + f.value).join("  ")));
  }));
}

function drawMasters(s) {
  fill($("masters"), s.masters.map((m) => {
    const state = STATES[m.state] || { sign: "?", word: m.state };
    const card = el("li", "master " + m.state,
      el("h3", "", m.name, m.required ? el("span", "tag", "required") : null),
      el("p", "state", el("span", "sign", state.sign), " ", state.word,
        m.wait > 0 ? el("span", "wait", span(m.wait) + " to go") : null),
      el("p", "reason", m.reason || " "));
    const bar = el("meter", "", "");
    bar.min = 0; bar.max = 1; bar.value = Math.max(0, m.share);
    bar.setAttribute("aria-label", "vote share");
    card.append(el("dl", "",
      el("div", "", el("dt", "", "answers in"), el("dd", "", latency(m.latency.p50), el("small", "", " p99 " + latency(m.latency.p99)))),
      el("div", "", el("dt", "", "vote share"), el("dd", "", percent(m.share),
        m.silent > 0 ? el("small", "", " " + percent(m.silent) + " silent") : null))),
      bar, el("p", "address", m.address + (m.version ? " · " + m.version : "")));
    return card;
  }));
}

function drawNumbers(s) {
  const r = s.recent;
  const tiles = [
    ["won per second", number(r.won)], ["held by another", number(r.held)],
    ["split or undecided", number(r.split + r.undecided), r.split + r.undecided > 0],
    ["acquire takes", latency(s.acquire.p50), false, s.acquire.p50 < 0 ? "none was decided" : "p99 " + latency(s.acquire.p99)],
    ["locks held", count(s.held)], ["waiting", count(s.waiting + s.blocked), false, count(s.under_way) + " under way"],
    ["sessions", count(s.sessions)],
  ];
  fill($("numbers"), tiles.map(([name, value, bad, more]) =>
    el("div", bad ? "bad" : "", el("dt", "", name), el("dd", "", bad ? "! " : "", value, more ? el("small", "", " " + more) : null))));
}

// nice is a round number that is not below n, for the top of the chart.
function nice(n) {
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].map((f) => f * unit).find((f) => f >= n * 0.999);
}

function drawChart() {
  const box = $("chart").getBoundingClientRect();
  const w = Math.max(280, Math.round(box.width)), h = w < 500 ? 180 : 220;
  const left = 8, right = 8, top = 12, bottom = 22;
  const most = nice(Math.max(1, ...history.map((r) => Math.max(r.won, r.held, r.split, r.undecided))));
  const x = (i) => left + ((w - left - right) * (i + KEPT - history.length)) / (KEPT - 1);
  const y = (v) => top + (h - top - bottom) * (1 - v / most);
  const picture = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "img" });
  const last = history[history.length - 1] || { won: 0, held: 0, split: 0, undecided: 0 };
  picture.setAttribute("aria-label", "Acquires per second now: " + VERDICTS.map((v) => number(last[v.key]) + " " + v.word).join(", "));
  for (const part of [0, 0.5, 1]) {
    picture.append(svg("line", { x1: left, x2: w - right, y1: y(most * part), y2: y(most * part), class: "grid" }));
    if (part > 0) picture.append(svg("text", { x: left, y: y(most * part) - 3, class: "axis" }, number(most * part)));
  }
  for (let minute = 0; minute <= 5; minute++) {
    if (w < 500 && minute > 0 && minute % 2 === 0) continue;
    const at = left + ((w - left - right) * (KEPT - 1 - minute * 60 + (minute ? 1 : 0))) / (KEPT - 1);
    picture.append(svg("text", { x: Math.max(left, at), y: h - 6, class: "axis",
      "text-anchor": minute === 0 ? "end" : minute === 5 ? "start" : "middle" }, minute ? "−" + minute + " min" : "now"));
  }
  const line = (key) => history.map((r, i) => (i ? "L" : "M") + x(i).toFixed(1) + " " + y(r[key]).toFixed(1)).join("");
  // What happens seldom has a line only where it happened, since along the axis
  // it would look like something.
  const seldom = (key) => history.map((r, i) => {
    const before = i > 0 && (history[i - 1][key] > 0 || r[key] > 0);
    const shown = r[key] > 0 || before || (i + 1 < history.length && history[i + 1][key] > 0);
    return shown ? (before ? "L" : "M") + x(i).toFixed(1) + " " + y(r[key]).toFixed(1) : "";
  }).join("");
  if (history.length > 1) {
    picture.append(svg("path", { class: "area won", d: line("won") + `L${x(history.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` }));
    // The last ones on top: they matter most.
    for (const v of VERDICTS) picture.append(svg("path", { class: "line " + v.key, d: v.seldom ? seldom(v.key) : line(v.key) }));
  }
  const legend = el("ul", "legend", ...VERDICTS.map((v) => {
    const sample = svg("svg", { width: 34, height: 10, "aria-hidden": "true" });
    sample.append(svg("path", { class: "line " + v.key, d: "M1 5L33 5" }));
    return el("li", "", sample, el("span", "", v.word), el("b", "", number(last[v.key])));
  }));
  fill($("chart"), [legend, picture]);
}

function row(...cells) {
  return el("tr", "", ...cells.map(([content, className]) => el("td", className || "", ...[].concat(content))));
}

function drawTable(id, rows, none) {
  const body = $(id).tBodies[0];
  if (rows.length === 0) {
    const cell = el("td", "none", none);
    cell.colSpan = $(id).tHead.rows[0].cells.length;
    rows = [el("tr", "", cell)];
  }
  fill(body, rows);
}

function drawTables(s) {
  say("held-count", s.held > s.longest.length ? s.longest.length + " of " + count(s.held) : "");
  drawTable("longest", s.longest.map((l) => row([lockOf(l)], [client(l)],
    [(l.taken ? "" : "more than ") + span(l.age), "n"], [span(l.left), "n"])), "no lock is held that this redlockd gave");
  drawTable("contended", s.contended.map((k) => row([lockOf(k)],
    [k.address ? client(k) : el("span", "none", "–")], [number(k.per_minute), "n"])),
    "no lock was wanted lately while somebody else had it");
  const time = (ms) => [ms < 0 ? "–" : ms < 1000 ? ms + " ms" : span(ms), "n"];
  drawTable("times", s.times.map((t) => row([el("code", "", t.pattern)], [count(t.waits), "n"], time(t.wait50), time(t.wait99),
    [count(t.holds), "n"], time(t.hold50), time(t.hold99))), "no lock was released yet");
  say("session-count", s.sessions > s.latest.length ? s.latest.length + " of " + count(s.sessions) + ", the latest first" : "");
  drawTable("sessions", s.latest.map((c) => row([who(c)], [c.address, "address"], [c.library || "–"],
    [[el("code", "", c.command), c.blocked ? el("span", "tag", "waits") : null, c.waiting > 0 ? el("span", "tag", c.waiting + " under way") : null]],
    [span(c.idle), "n"], [span(c.age), "n"])), "nobody is connected");
}

function draw(s) {
  drawVerdict(s);
  drawOutage(s);
  drawMasters(s);
  drawNumbers(s);
  drawChart();
  drawEvents(s);
  drawTables(s);
}

// beside is an address beside the page's, without the password that may be in it.
function beside(path) {
  const at = new URL(path, location.href);
  at.username = at.password = at.hash = "";
  return at;
}

function connect() {
  const events = new EventSource(beside("events"));
  const hear = (handle) => (e) => {
    heard = Date.now();
    $("lost").hidden = true;
    document.body.classList.remove("stale");
    handle(JSON.parse(e.data));
  };
  events.addEventListener("hello", hear((m) => {
    history = m.history.slice(-KEPT);
    fill($("facts"), m.facts.map((f) => el("div", "", el("dt", "", f.name), el("dd", "", f.value))));
    draw(m.snapshot);
  }));
  events.addEventListener("sample", hear((s) => {
    history = [...history, s.rates].slice(-KEPT);
    draw(s);
  }));
  events.onerror = () => {
    // It connects again by itself, unless it was refused.
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  };
}

// watch says so where nothing comes any more, because old numbers look like
// good ones.
function watch() {
  const silent = Date.now() - heard;
  if (silent < 4000) return;
  document.body.classList.add("stale");
  $("lost").hidden = false;
  say("lost", heard ? "✕ No word from redlockd for " + span(silent) + ". What stands here is old." : "✕ redlockd does not answer.");
}

connect();
heard = Date.now();
setInterval(watch, 1000);
addEventListener("resize", drawChart);
