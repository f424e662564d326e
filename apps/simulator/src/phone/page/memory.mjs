/* global localStorage */

const KEY = 'countersign.phone';
/** Maximum of numbers in one feed. */
export const MOST_LINES = 20;
/** Conversations whose last visit is remembered. */
const MOST_SEEN = 400;
const EMPTY = { lines: [], selected: null, seen: {}, theme: 'auto' };

/** The state in this browser's storage: its numbers, the selected one, what was seen, light or dark. */
export function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const lines = Array.isArray(kept.lines) ? kept.lines.filter((line) => typeof line === 'string') : [];
    return { ...EMPTY, ...kept, lines: lines.slice(0, MOST_LINES) };
  } catch {
    return EMPTY;
  }
}

/** The phone also works in a browser without storage. */
export function keep({ lines, selected, seen, theme }) {
  const latest = Object.fromEntries(Object.entries(seen).slice(-MOST_SEEN));
  try {
    localStorage.setItem(KEY, JSON.stringify({ lines, selected, seen: latest, theme }));
  } catch {
    return;
  }
}
