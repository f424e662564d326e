/* global document */
import { recall } from './memory.mjs';
import { isOnPhone, networkOf, threadKeyOf, threadsOf, waitingIn, withItem } from './threads.mjs';

/** The state of the page. Only the functions below change it. */
export const emptyState = () => ({ ...recall(), items: {}, views: {}, open: null, connection: 'live' });

const seenKey = (phone, key) => `${phone} ${key}`;

/** The time of the last visit of each conversation of a number. */
const seenOf = ({ seen }, phone) =>
  Object.fromEntries(
    Object.entries(seen)
      .filter(([key]) => key.startsWith(`${phone} `))
      .map(([key, at]) => [key.slice(phone.length + 1), at]),
  );

export function takeSnapshot(state, { phones, items }) {
  state.items = Object.fromEntries(phones.map(({ phone }) => [phone, items.filter((item) => item.phone === phone)]));
  state.views = Object.fromEntries(phones.map((view) => [view.phone, view]));
}

/** Returns whether the item has just arrived and is to be announced. */
export function takeItem(state, item) {
  const items = state.items[item.phone] ?? [];
  const before = items.find(({ id }) => id === item.id);
  state.items[item.phone] = withItem(items, item);
  const isNew = before === undefined || !isOnPhone(before);
  return isNew && isOnPhone(item) && item.kind !== 'reply' && item.direction !== 'out';
}

export const isLookedAt = (state, item) =>
  state.selected === item.phone && state.open === threadKeyOf(item) && document.visibilityState === 'visible';

/** Marks the visible messages as seen; returns those that the platform counts as unread. */
export function noteSeen(state, now) {
  if (state.open === null || document.visibilityState !== 'visible') return [];
  const items = (state.items[state.selected] ?? []).filter((item) => threadKeyOf(item) === state.open);
  const last = items.at(-1);
  if (last === undefined) return [];
  // Messages that arrive late also count as seen.
  const key = seenKey(state.selected, state.open);
  delete state.seen[key];
  state.seen[key] = last.at > now ? last.at : now;
  return items.filter(({ state: its }) => its === 'delivered');
}

export function addLine(state, phone) {
  if (!state.lines.includes(phone)) state.lines = [...state.lines, phone];
  selectLine(state, phone);
}

export function selectLine(state, phone) {
  state.open = null;
  state.selected = phone;
}

export function removeLine(state, phone) {
  const at = state.lines.indexOf(phone);
  state.lines = state.lines.filter((line) => line !== phone);
  if (state.selected === phone) selectLine(state, state.lines[Math.min(at, state.lines.length - 1)] ?? null);
}

const unreadOf = (threads) => threads.reduce((sum, { unread }) => sum + unread, 0);

/** The input of the views. */
export function picture(state, now) {
  const line = state.selected;
  const items = state.items[line] ?? [];
  const threads = threadsOf(items, seenOf(state, line));
  const lines = state.lines.map((phone) => ({
    phone,
    network: networkOf(state.views[phone]),
    unread: unreadOf(threadsOf(state.items[phone] ?? [], seenOf(state, phone))),
  }));
  return {
    now,
    line,
    lines,
    threads,
    thread: openThread(threads, state.open),
    network: networkOf(state.views[line]),
    autoTap: state.views[line]?.autoTap ?? null,
    waiting: waitingIn(items, now),
    unread: unreadOf(lines),
    connection: state.connection,
    theme: state.theme,
  };
}

/** A conversation that was just begun may have no message yet. */
function openThread(threads, key) {
  if (key === null) return null;
  const peer = key.startsWith('sms:') ? key.slice('sms:'.length) : null;
  const begun = peer === null ? null : { key, agent: null, peer, items: [], unread: 0 };
  return threads.find((thread) => thread.key === key) ?? begun;
}
