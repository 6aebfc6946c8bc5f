// What every page does: follow changes, keys, the theme, and the time slider.
"use strict";

const say = (text) => { document.getElementById("said").textContent = text; };

// --- live: a watch tells that something changed, then the page is read again and brought up to date in place

const SHORTEST_MS = 1000;

function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) { from.replaceWith(to); return; }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  for (const { name, value } of [...to.attributes]) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && name !== "open") from.removeAttribute(name);
  // What is being typed stays.
  if (from === document.activeElement && /^(INPUT|SELECT|TEXTAREA)$/.test(from.nodeName)) return;
  morphChildren(from, to);
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || "" : "");

function morphChildren(from, to) {
  const keyed = new Map([...from.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    const same = key ? keyed.get(key) : place && !keyOf(place) ? place : null;
    if (same) {
      keyed.delete(key);
      if (same === place) place = place.nextSibling; else from.insertBefore(same, place);
      if (key && !same.isEqualNode(wanted) && wanted.nodeName === "TR") {
        same.classList.remove("fresh"); void same.offsetWidth; wanted.classList.add("fresh");
      }
      morph(same, wanted);
    } else {
      if (key && wanted.nodeName === "TR") wanted.classList.add("fresh");
      from.insertBefore(wanted, place);
    }
  }
  while (place) { const next = place.nextSibling; place.remove(); place = next; }
}

class Live {
  constructor(region) {
    this.region = region; this.due = 0; this.busy = false; this.stop = null;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.rest() : this.wake()));
    if (!document.hidden) this.follow();
  }
  rest() { if (this.stop) this.stop.abort(); this.stop = null; }
  wake() { if (!this.stop && this.region.dataset.watch) this.refresh().then(() => this.follow()); }
  async follow() {
    const address = this.region.dataset.watch;
    if (!address || this.stop) return;
    const stop = this.stop = new AbortController();
    try {
      const answer = await fetch(address, { signal: stop.signal, headers: { Accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } });
      if (!answer.ok) throw new Error(`the watch is refused with ${answer.status}`);
      this.region.dataset.state = "live";
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        if (lines.some((line) => line && !line.startsWith('{"type":"BOOKMARK"'))) this.soon();
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      this.region.dataset.state = "lost";
    }
    if (this.stop === stop) {
      this.stop = null;
      setTimeout(() => { if (!document.hidden) this.wake(); }, 5 * SHORTEST_MS);
    }
  }
  soon() {
    if (this.due) return;
    this.due = setTimeout(() => { this.due = 0; this.refresh(); }, SHORTEST_MS);
  }
  async refresh() {
    if (this.busy) { this.soon(); return; }
    this.busy = true;
    try {
      const answer = await fetch(location.href, { headers: { "X-Fragment": "1" } });
      if (answer.status === 401) { location.href = "/sign-in"; return; }
      if (answer.status === 404) { say("This object is gone."); this.rest(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      if (answer.ok && fresh) { morph(this.region, document.adoptNode(fresh)); this.region.dataset.refreshed = Date.now(); }
    } catch (error) {
      this.region.dataset.state = "lost";
    } finally { this.busy = false; }
  }
}

// --- time: which revisions there are is asked when the slider is opened, or the page is of the past

class Time {
  constructor(section) {
    this.section = section; this.slider = document.getElementById("time-slider"); this.text = document.getElementById("time-text");
    this.button = document.getElementById("time-button");
    this.button.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => this.tell());
    this.slider.addEventListener("change", () => this.go());
    if (!section.hidden) this.load();
  }
  toggle() {
    this.section.hidden = !this.section.hidden;
    this.button.setAttribute("aria-expanded", String(!this.section.hidden));
    if (!this.section.hidden) { this.load(); this.slider.focus(); }
  }
  async load() {
    const answer = await fetch("/time/range");
    if (!answer.ok) { this.text.textContent = "The revisions may not be read."; return; }
    const { oldest, latest } = await answer.json();
    const at = Number(this.section.dataset.at) || latest;
    this.slider.min = Math.min(oldest, at); this.slider.max = latest; this.slider.value = at; this.slider.disabled = false;
    this.tell();
  }
  tell() {
    const revision = this.slider.value;
    this.text.textContent = `revision ${revision}`;
    clearTimeout(this.asking);
    this.asking = setTimeout(async () => {
      const { time } = await (await fetch(`/time/${revision}`)).json();
      if (time && this.slider.value === revision) this.text.textContent = `revision ${revision}, ${time.slice(0, 19).replace("T", " ")} UTC`;
    }, 150);
  }
  go() {
    const place = new URL(location.href);
    if (this.slider.value === this.slider.max) place.searchParams.delete("at"); else place.searchParams.set("at", this.slider.value);
    location.href = place;
  }
}

// --- theme

function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function showTheme() {
  const button = document.getElementById("theme-button");
  if (button) button.textContent = theme() === "dark" ? "Light" : "Dark";
}

function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  showTheme();
}

// --- keys

function move(step) {
  const rows = [...document.querySelectorAll("#live tbody tr")].filter((row) => row.querySelector("a"));
  if (!rows.length) return;
  const now = rows.findIndex((row) => row.classList.contains("at"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + step))];
  rows.forEach((row) => row.classList.toggle("at", row === next));
  next.querySelector("a").focus();
}

let going = 0;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select, .terminal")) return;
  const key = event.key;
  if (going && Date.now() - going < 1500) {
    going = 0;
    const link = document.querySelector(`header nav a[data-key="${CSS.escape(key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const deeds = {
    "/": () => (document.getElementById("q") || document.getElementById("log-filter"))?.focus(),
    "?": () => document.getElementById("help").showModal(),
    g: () => { going = Date.now(); },
    j: () => move(1),
    k: () => move(-1),
    t: () => document.getElementById("time-button")?.click(),
    d: switchTheme,
  };
  if (deeds[key]) { event.preventDefault(); deeds[key](); }
}

document.addEventListener("keydown", onKey);
document.getElementById("theme-button")?.addEventListener("click", switchTheme);
document.getElementById("help-button")?.addEventListener("click", () => document.getElementById("help").showModal());
document.addEventListener("change", (event) => { if (event.target.matches("[data-submit]")) event.target.form.requestSubmit(); });
showTheme();
if (document.getElementById("time")) new Time(document.getElementById("time"));
const region = document.getElementById("live");
if (region && region.dataset.watch) new Live(region);
