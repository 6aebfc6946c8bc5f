// A container's log, followed; kept to so many lines, filtered where it is shown.
"use strict";

const MOST_LINES = 5000;
const box = document.getElementById("log");
const filter = document.getElementById("log-filter");
let lines = [], paused = false, stopped = null;

function show(added) {
  const word = filter.value.toLowerCase();
  const wanted = (line) => !word || line.toLowerCase().includes(word);
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  if (added) {
    const text = added.filter(wanted).map((line) => `${line}\n`).join("");
    if (text) box.append(text);
    while (box.childNodes.length > 400) box.firstChild.remove();
  } else box.textContent = lines.filter(wanted).map((line) => `${line}\n`).join("");
  if (atEnd && !paused) box.scrollTop = box.scrollHeight;
}

async function follow() {
  if (stopped) stopped.abort();
  const mine = stopped = new AbortController();
  lines = []; box.textContent = "";
  const previous = document.getElementById("log-previous").checked;
  const query = new URLSearchParams({ container: box.dataset.container, tailLines: "1000", timestamps: "false" });
  if (previous) query.set("previous", "true"); else query.set("follow", "true");
  try {
    const answer = await fetch(`${box.dataset.stream}?${query}`, { signal: mine.signal });
    if (!answer.ok) {
      const text = await answer.text();
      let told = text;
      try { told = JSON.parse(text).message; } catch (error) { /* no Status: the text itself */ }
      box.textContent = told; return;
    }
    box.dataset.state = "live";
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const found = (rest + value).split("\n");
      rest = found.pop();
      lines.push(...found);
      if (lines.length > MOST_LINES) lines = lines.slice(-MOST_LINES);
      show(found);
    }
    if (rest) { lines.push(rest); show([rest]); }
    box.dataset.state = "ended";
  } catch (error) {
    if (!mine.signal.aborted) { box.dataset.state = "lost"; box.append("\n(the connection was lost)\n"); }
  }
}

filter.addEventListener("input", () => show(null));
filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
document.getElementById("log-wrap").addEventListener("change", (event) => box.classList.toggle("wrapped", event.target.checked));
document.getElementById("log-previous").addEventListener("change", follow);
document.getElementById("log-pause").addEventListener("click", (event) => {
  paused = !paused;
  event.target.setAttribute("aria-pressed", String(paused));
  event.target.textContent = paused ? "Go on" : "Pause";
  if (!paused) box.scrollTop = box.scrollHeight;
});
follow();
