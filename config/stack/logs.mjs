// The apps log to files; warnings and errors of these files are shown during the run.
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';

const POLL_MS = 200;
/** A larger file is renamed to `.old` and a new one begun. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
const MAX_READ_BYTES = 256 * 1024;
const MAX_SHOWN_CHARACTERS = 500;
const SHOWN_LEVELS = ['warn', 'error', 'fatal'];

/**
 * Calls `show` with every line that is a warning or an error, or that is not a log record.
 *
 * @returns {() => void} reads the rest of the file and ends
 */
export function followLog(file, show, maxLogBytes = MAX_LOG_BYTES) {
  let offset = 0;
  let rest = '';
  const look = () => {
    if (!existsSync(file)) return; // removed by somebody: no reason to stop
    const { text, size } = readFrom(file, offset);
    offset += Buffer.byteLength(text, 'latin1');
    const lines = (rest + text).split('\n');
    rest = lines.pop().slice(-MAX_READ_BYTES);
    for (const line of lines) {
      const worth = worthShowing(Buffer.from(line, 'latin1').toString('utf8'));
      if (worth !== undefined) show(worth);
    }
    if (size > maxLogBytes && offset >= size) {
      copyFileSync(file, `${file}.old`);
      truncateSync(file);
      offset = 0;
    }
  };
  const timer = setInterval(look, POLL_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

/** Latin-1, so that a character that is split between two reads can be joined again. */
function readFrom(file, offset) {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const buffer = Buffer.alloc(Math.min(Math.max(size - offset, 0), MAX_READ_BYTES));
    const length = readSync(handle, buffer, 0, buffer.length, offset);
    return { text: buffer.toString('latin1', 0, length), size };
  } finally {
    closeSync(handle);
  }
}

function worthShowing(line) {
  if (line.trim() === '') return undefined;
  const record = parse(line);
  if (record === undefined) return line.slice(0, MAX_SHOWN_CHARACTERS);
  if (!SHOWN_LEVELS.includes(record.level)) return undefined;
  const text = [record.level, record.msg, record.err?.message].filter(Boolean).join(': ');
  return text.slice(0, MAX_SHOWN_CHARACTERS);
}

function parse(line) {
  try {
    const record = JSON.parse(line);
    return typeof record?.level === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}
