// A terminal in a container: keys go to its standard input, what it writes to a Screen, which is drawn.
// Source of the protocol: kubernetes staging/src/k8s.io/kubelet/pkg/cri/streaming/remotecommand/websocket.go (v4).
"use strict";

const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];
const KEYS = {
  Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", Delete: "\x1b[3~", Insert: "\x1b[2~", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
  F1: "\x1bOP", F2: "\x1bOQ", F3: "\x1bOR", F4: "\x1bOS", F5: "\x1b[15~", F6: "\x1b[17~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~", F10: "\x1b[21~", F11: "\x1b[23~", F12: "\x1b[24~",
};
const MOVES = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" };

class Terminal {
  constructor(box, told) {
    this.box = box; this.told = told; this.socket = null; this.drawing = false; this.escaped = 0;
    this.screen = new Screen(...this.size());
    this.screen.reply = (text) => this.send(STDIN, text);
    this.encoder = new TextEncoder();
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("paste", (event) => { event.preventDefault(); this.send(STDIN, event.clipboardData.getData("text").replace(/\r?\n/g, "\r")); });
    new ResizeObserver(() => this.resized()).observe(box);
  }
  size() {
    const probe = document.createElement("span");
    probe.textContent = "M".repeat(20); this.box.append(probe);
    const { width, height } = probe.getBoundingClientRect();
    probe.remove();
    if (!width) return [80, 24];
    return [Math.max(20, Math.floor((this.box.clientWidth - 18) / (width / 20))), Math.max(5, Math.floor((this.box.clientHeight - 18) / height))];
  }
  connect(command) {
    if (this.socket) this.socket.close();
    this.screen.reset(); this.screen.history = []; this.draw();
    const query = new URLSearchParams({ container: this.box.dataset.container, stdin: "true", stdout: "true", tty: "true" });
    for (const word of command.split(/\s+/).filter(Boolean)) query.append("command", word);
    const socket = this.socket = new WebSocket(`ws://${location.host}${this.box.dataset.stream}?${query}`, PROTOCOLS);
    const decoder = new TextDecoder();
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.say("connected"); this.resized(true); this.box.focus(); };
    socket.onmessage = ({ data }) => {
      const bytes = new Uint8Array(data);
      if (bytes[0] === STDOUT || bytes[0] === STDERR) { this.screen.write(decoder.decode(bytes.subarray(1), { stream: true })); this.draw(); }
      else if (bytes[0] === ERROR) this.ended(new TextDecoder().decode(bytes.subarray(1)));
    };
    this.over = false; this.say("connecting");
    socket.onclose = () => { if (this.socket === socket) { this.socket = null; if (!this.over) this.say("not connected: the connection was refused, or is lost"); } };
  }
  ended(text) {
    this.over = true;
    let status = {};
    try { status = JSON.parse(text); } catch (error) { status = { status: "Failure", message: text }; }
    this.say(status.status === "Success" ? "ended" : `ended: ${status.message}`);
  }
  say(text) { this.told.textContent = text; this.box.dataset.state = text; }
  send(channel, text) {
    if (!this.socket || this.socket.readyState !== WebSocket.OPEN) return;
    const body = this.encoder.encode(text), message = new Uint8Array(body.length + 1);
    message[0] = channel; message.set(body, 1);
    this.socket.send(message);
  }
  resized(always) {
    const [columns, rows] = this.size();
    if (!always && columns === this.screen.columns && rows === this.screen.rows) return;
    this.screen.resize(columns, rows); this.draw();
    this.send(RESIZE, JSON.stringify({ Width: columns, Height: rows }));
  }
  key(event) {
    if (event.isComposing || event.metaKey) return;
    if (event.ctrlKey && event.shiftKey) return; // copy and paste of the browser
    const text = this.bytes(event);
    // Twice Escape leaves the terminal, so that the keyboard is not caught in it.
    if (event.key === "Escape") { if (Date.now() - this.escaped < 500) { event.preventDefault(); document.getElementById("connect").focus(); return; } this.escaped = Date.now(); }
    if (text) { event.preventDefault(); event.stopPropagation(); this.send(STDIN, text); }
  }
  bytes({ key, ctrlKey, altKey }) {
    if (ctrlKey && key.length === 1) {
      const code = key.toUpperCase().charCodeAt(0);
      if (key === " ") return "\x00";
      return code >= 64 && code < 96 ? String.fromCharCode(code - 64) : "";
    }
    if (MOVES[key]) return `\x1b${this.screen.keysAreApplication ? "O" : "["}${MOVES[key]}`;
    const text = KEYS[key] || (key.length === 1 || [...key].length === 1 ? key : "");
    return altKey && text ? `\x1b${text}` : text;
  }
  draw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => { this.drawing = false; this.paint(); });
  }
  paint() {
    const { history, lines, x, y, shown } = this.screen;
    const atEnd = this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 40;
    const rows = [...(this.screen.other ? [] : history.slice(-500)).map((line) => this.line(line, -1)), ...lines.map((line, place) => this.line(line, shown && place === y ? x : -1))];
    this.box.replaceChildren(...rows);
    if (atEnd) this.box.scrollTop = this.box.scrollHeight;
  }
  line(cells, cursor) {
    const row = document.createElement("div");
    row.className = "line";
    let last = cells.length - 1;
    while (last >= 0 && last > cursor && cells[last].text === " " && !cells[last].look) last--;
    for (let start = 0; start <= last;) {
      const look = start === cursor ? `${cells[start].look} cursor` : cells[start].look;
      let end = start + 1;
      while (start !== cursor && end <= last && end !== cursor && cells[end].look === look) end++;
      const text = cells.slice(start, end).map((cell) => cell.text).join("");
      if (look) { const span = document.createElement("span"); span.className = look.trim(); span.textContent = text; row.append(span); } else row.append(text);
      start = end;
    }
    return row;
  }
}

const terminal = new Terminal(document.getElementById("terminal"), document.getElementById("terminal-state"));
const shell = document.getElementById("shell");
document.getElementById("connect").addEventListener("click", () => terminal.connect(shell.value));
shell.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); terminal.connect(shell.value); } });
