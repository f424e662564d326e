/* global localStorage */

const KEY = 'countersign.phone';
/** The feed shows no more numbers at once. */
export const MOST_LINES = 20;
/** Conversations whose last look is remembered. */
const MOST_SEEN = 400;
const EMPTY = { lines: [], selected: null, seen: {}, theme: 'auto' };

/** What this browser keeps: its numbers, which of them is looked at, what was seen, light or dark. */
export function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const lines = Array.isArray(kept.lines) ? kept.lines.filter((line) => typeof line === 'string') : [];
    return { ...EMPTY, ...kept, lines: lines.slice(0, MOST_LINES) };
  } catch {
    return EMPTY;
  }
}

/** A browser that keeps nothing still shows the phone. */
export function keep({ lines, selected, seen, theme }) {
  const latest = Object.fromEntries(Object.entries(seen).slice(-MOST_SEEN));
  try {
    localStorage.setItem(KEY, JSON.stringify({ lines, selected, seen: latest, theme }));
  } catch {
    return;
  }
}
