const REDRAW_MS = 120;
const PLAIN_EVERY_MS = 15_000;

/**
 * Progress of tasks that run side by side: on a terminal one line each that updates in place, elsewhere plain lines.
 * `task(name)` gives `{update(detail), done(detail), fail(detail)}`; `note(text)` prints a line; `close()` leaves the lines as they are.
 */
export function createReporter({ stream = process.stdout, tty = stream.isTTY === true, now = Date.now } = {}) {
  return tty ? terminal({ stream, now }) : plain({ stream, now });
}

function plain({ stream, now }) {
  const print = (text) => stream.write(`${text}\n`);
  const task = (name) => {
    const started = now();
    let last = started;
    let detail = "";
    const say = (text) => print(`${name.padEnd(8)} ${text} (${elapsed(now() - started)})`);
    return {
      update(next) {
        const changed = next.split(/[:,]/)[0] !== detail.split(/[:,]/)[0];
        detail = next;
        if (!changed && now() - last < PLAIN_EVERY_MS) return;
        last = now();
        say(next);
      },
      done: (text) => say(`done: ${text}`),
      fail: (text) => say(`failed: ${text}`),
    };
  };
  return { task, note: print, close: () => {} };
}

function terminal({ stream, now }) {
  const lines = [];
  let drawn = 0;
  const text = (line) => {
    const mark = { running: "…", done: "✓", failed: "✗" }[line.state];
    const whole = `${mark} ${line.name.padEnd(8)} ${elapsed((line.ended ?? now()) - line.started).padStart(8)}  ${line.detail}`;
    return whole.slice(0, Math.max(20, (stream.columns ?? 80) - 1));
  };
  const draw = () => {
    const up = drawn > 0 ? `\x1b[${drawn}A` : "";
    stream.write(`${up}\r${lines.map((line) => `\x1b[2K${text(line)}\n`).join("")}`);
    drawn = lines.length;
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  const task = (name) => {
    const line = { name, detail: "", state: "running", started: now(), ended: null };
    lines.push(line);
    const end = (state) => (detail) => {
      Object.assign(line, { state, detail, ended: now() });
      draw();
    };
    return { update: (detail) => Object.assign(line, { detail }), done: end("done"), fail: end("failed") };
  };
  const note = (said) => {
    stream.write(`${drawn > 0 ? `\x1b[${drawn}A\r\x1b[0J` : ""}${said}\n`);
    drawn = 0;
    draw();
  };
  const close = () => {
    clearInterval(timer);
    if (lines.length > 0) draw();
    lines.length = 0;
    drawn = 0;
  };
  return { task, note, close };
}

/** Milliseconds as a person reads them: "4.2 s", "3 min 5 s". */
export function elapsed(ms) {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
