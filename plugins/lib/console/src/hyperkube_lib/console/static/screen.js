// What a terminal shows: the part of ECMA-48 and of xterm's own sequences that shells, pagers and editors use.
"use strict";

const HISTORY = 2000;
const blank = () => ({ text: " ", look: "" });

class Screen {
  constructor(columns, rows) {
    this.columns = columns; this.rows = rows; this.reply = () => {};
    this.lines = []; this.history = []; this.other = null;
    this.state = "text"; this.held = ""; this.reset();
  }
  reset() {
    this.lines = Array.from({ length: this.rows }, () => this.row());
    this.x = this.y = 0; this.saved = [0, 0]; this.top = 0; this.bottom = this.rows - 1;
    this.look = this.noLook(); this.shown = true; this.keysAreApplication = false; this.wraps = true; this.pendingWrap = false;
  }
  row() { return Array.from({ length: this.columns }, blank); }
  noLook() { return { fg: "", bg: "", bold: false, underline: false, inverse: false }; }
  lookText() {
    const { fg, bg, bold, underline, inverse } = this.look;
    return [fg, bg, bold && "bold", underline && "underline", inverse && "inverse"].filter(Boolean).join(" ");
  }
  resize(columns, rows) {
    const fit = (line) => (line.length > columns ? line.slice(0, columns) : line.concat(Array.from({ length: columns - line.length }, blank)));
    this.columns = columns;
    while (this.lines.length > rows) { if (this.y > 0) { this.history.push(this.lines.shift()); this.y--; } else this.lines.pop(); }
    this.lines = this.lines.map(fit);
    while (this.lines.length < rows) this.lines.push(this.row());
    this.rows = rows; this.top = 0; this.bottom = rows - 1;
    this.x = Math.min(this.x, columns - 1); this.y = Math.min(this.y, rows - 1);
  }
  write(text) { for (const letter of text) this.take(letter); }

  take(letter) {
    const code = letter.codePointAt(0);
    if (this.state === "text") {
      if (code === 27) { this.state = "escape"; this.held = ""; } else if (code < 32 || code === 127) this.control(code); else this.put(letter);
    } else if (this.state === "escape") this.escape(letter);
    else if (this.state === "charset") this.state = "text";
    else if (this.state === "osc") {
      if (code === 7) this.state = "text"; else if (code === 27) this.state = "osc-end";
    } else if (this.state === "osc-end") this.state = "text";
    else if (code < 32) this.control(code);
    else if (code >= 64 && code <= 126) { this.state = "text"; this.sequence(letter, this.held); } else this.held += letter;
  }
  control(code) {
    if (code === 8) { this.x = Math.max(0, this.x - 1); this.pendingWrap = false; }
    else if (code === 9) this.x = Math.min(this.columns - 1, (Math.floor(this.x / 8) + 1) * 8);
    else if (code === 10 || code === 11 || code === 12) this.down();
    else if (code === 13) { this.x = 0; this.pendingWrap = false; }
  }
  escape(letter) {
    this.state = "text";
    if (letter === "[") this.state = "csi";
    else if (letter === "]" || letter === "P" || letter === "_" || letter === "^") this.state = "osc";
    else if ("()*+#%".includes(letter)) this.state = "charset";
    else if (letter === "7") this.saved = [this.x, this.y];
    else if (letter === "8") [this.x, this.y] = this.saved;
    else if (letter === "D") this.down();
    else if (letter === "E") { this.x = 0; this.down(); }
    else if (letter === "M") this.up();
    else if (letter === "c") this.reset();
  }
  put(letter) {
    if (this.pendingWrap && this.wraps) { this.x = 0; this.down(); }
    this.pendingWrap = false;
    this.lines[this.y][this.x] = { text: letter, look: this.lookText() };
    if (this.x === this.columns - 1) this.pendingWrap = true; else this.x++;
  }
  down() {
    this.pendingWrap = false;
    if (this.y === this.bottom) this.scroll(1); else if (this.y < this.rows - 1) this.y++;
  }
  up() { if (this.y === this.top) this.scroll(-1); else if (this.y > 0) this.y--; }
  scroll(count) {
    for (let left = Math.min(Math.abs(count), this.rows); left > 0; left--) {
      if (count > 0) {
        const [gone] = this.lines.splice(this.top, 1);
        this.lines.splice(this.bottom, 0, this.row());
        if (this.top === 0 && !this.other) { this.history.push(gone); if (this.history.length > HISTORY) this.history.shift(); }
      } else { this.lines.splice(this.bottom, 1); this.lines.splice(this.top, 0, this.row()); }
    }
  }
  sequence(letter, held) {
    const own = held.startsWith("?");
    if (/[>=!"' $]/.test(held)) { if (letter === "c") this.reply("\x1b[>0;0;0c"); return; }
    const numbers = held.replace("?", "").split(";").map((part) => parseInt(part, 10) || 0);
    const n = Math.max(1, numbers[0]);
    const act = {
      A: () => { this.y = Math.max(0, this.y - n); }, B: () => { this.y = Math.min(this.rows - 1, this.y + n); },
      C: () => { this.x = Math.min(this.columns - 1, this.x + n); }, D: () => { this.x = Math.max(0, this.x - n); },
      E: () => { this.y = Math.min(this.rows - 1, this.y + n); this.x = 0; }, F: () => { this.y = Math.max(0, this.y - n); this.x = 0; },
      G: () => { this.x = Math.min(this.columns, n) - 1; }, d: () => { this.y = Math.min(this.rows, n) - 1; },
      H: () => { this.y = Math.min(this.rows, n) - 1; this.x = Math.min(this.columns, Math.max(1, numbers[1] || 1)) - 1; },
      J: () => this.erase(numbers[0]), K: () => this.eraseLine(numbers[0]),
      L: () => this.shift(n, -1), M: () => this.shift(n, 1),
      P: () => { const line = this.lines[this.y]; line.splice(this.x, n); while (line.length < this.columns) line.push(blank()); },
      "@": () => { this.lines[this.y].splice(this.x, 0, ...Array.from({ length: n }, blank)); this.lines[this.y].length = this.columns; },
      X: () => { for (let i = this.x; i < Math.min(this.columns, this.x + n); i++) this.lines[this.y][i] = blank(); },
      S: () => this.scroll(n), T: () => this.scroll(-n),
      r: () => { this.top = n - 1; this.bottom = Math.min(this.rows, numbers[1] || this.rows) - 1; if (this.top >= this.bottom) { this.top = 0; this.bottom = this.rows - 1; } this.x = this.y = 0; },
      s: () => { this.saved = [this.x, this.y]; }, u: () => { [this.x, this.y] = this.saved; },
      m: () => this.paint(numbers), h: () => own && numbers.forEach((mode) => this.mode(mode, true)), l: () => own && numbers.forEach((mode) => this.mode(mode, false)),
      n: () => { if (numbers[0] === 6) this.reply(`\x1b[${this.y + 1};${this.x + 1}R`); else if (numbers[0] === 5) this.reply("\x1b[0n"); },
      c: () => this.reply("\x1b[?6c"),
    };
    act.f = act.H;
    if (act[letter]) { if (!"mhlnc".includes(letter)) this.pendingWrap = false; act[letter](); }
  }
  mode(mode, on) {
    if (mode === 1) this.keysAreApplication = on;
    else if (mode === 7) this.wraps = on;
    else if (mode === 25) this.shown = on;
    else if (mode === 47 || mode === 1047 || mode === 1049) this.alternate(on);
  }
  alternate(on) {
    if (on && !this.other) { this.other = { lines: this.lines, x: this.x, y: this.y }; this.lines = Array.from({ length: this.rows }, () => this.row()); this.x = this.y = 0; }
    else if (!on && this.other) { ({ lines: this.lines, x: this.x, y: this.y } = this.other); this.other = null; this.resize(this.columns, this.rows); }
  }
  erase(how) {
    if (how === 3) { this.history = []; return; }
    this.eraseLine(how);
    for (let y = 0; y < this.rows; y++) if (how === 2 || (how === 0 && y > this.y) || (how === 1 && y < this.y)) this.lines[y] = this.row();
  }
  eraseLine(how) {
    const [from, to] = how === 0 ? [this.x, this.columns] : how === 1 ? [0, this.x + 1] : [0, this.columns];
    for (let x = from; x < to; x++) this.lines[this.y][x] = blank();
  }
  shift(count, way) {
    for (let left = Math.min(count, this.rows); left > 0; left--) {
      if (way > 0) { this.lines.splice(this.y, 1); this.lines.splice(this.bottom, 0, this.row()); } else { this.lines.splice(this.bottom, 1); this.lines.splice(this.y, 0, this.row()); }
    }
  }
  paint(numbers) {
    for (let i = 0; i < numbers.length; i++) {
      const n = numbers[i];
      if (n === 0) this.look = this.noLook();
      else if (n === 1) this.look.bold = true; else if (n === 22) this.look.bold = false;
      else if (n === 4) this.look.underline = true; else if (n === 24) this.look.underline = false;
      else if (n === 7) this.look.inverse = true; else if (n === 27) this.look.inverse = false;
      else if (n === 39) this.look.fg = ""; else if (n === 49) this.look.bg = "";
      else if ((n >= 30 && n <= 37) || (n >= 90 && n <= 97)) this.look.fg = `fg${n % 10}`;
      else if ((n >= 40 && n <= 47) || (n >= 100 && n <= 107)) this.look.bg = n % 10 ? `bg${n % 10}` : "";
      else if (n === 38 || n === 48) {
        // Of 256 colours the first 16 are those that are here; of the others none.
        const index = numbers[i + 1] === 5 ? numbers[i + 2] : -1;
        this.look[n === 38 ? "fg" : "bg"] = index >= 0 && index < 16 ? `${n === 38 ? "fg" : "bg"}${index % 8}` : "";
        i += numbers[i + 1] === 5 ? 2 : 4;
      }
    }
  }
  text() { return [...this.history, ...this.lines].map((line) => line.map((cell) => cell.text).join("").trimEnd()).join("\n"); }
}
