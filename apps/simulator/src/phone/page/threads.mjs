import { dayOf } from './times.mjs';

const CODE = /(?<![0-9])[0-9]{6}(?![0-9])/;
const MATCH_NUMBER = /^[0-9]{2}$/;
/** Messages that the platform holds or has revoked are not on the phone. */
const NOT_HERE = ['waiting', 'revoked', 'expired'];

export const isOnPhone = (item) => !NOT_HERE.includes(item.state);
const isFromPerson = (item) => item.kind === 'reply' || item.direction === 'out';

/** The key of the item's conversation. */
export const threadKeyOf = (item) => (item.kind === 'sms' ? `sms:${item.peer}` : `rcs:${item.agent.agentId}`);

/** The items with this one: replaces the item with its id, else is inserted by time. */
export function withItem(items, item) {
  const known = items.findIndex(({ id }) => id === item.id);
  if (known !== -1) return items.toSpliced(known, 1, item);
  const after = items.findLastIndex(({ at }) => at <= item.at);
  return items.toSpliced(after + 1, 0, item);
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

function previewOf(item) {
  if (item.kind === 'card' && item.state === 'revoked') return 'A card was withdrawn';
  if (item.kind === 'card' && item.state === 'expired') return 'A card expired on its way';
  if (item.kind === 'card' && item.tapped !== null) return `You: ${choiceOf(item)}`;
  const text = oneLine(item.kind === 'card' ? (item.title ?? item.text ?? '') : (item.text ?? ''));
  return isFromPerson(item) ? `You: ${text}` : text;
}

function threadOf(key, items, seenAt) {
  const last = items.at(-1);
  const arrived = items.filter((item) => isOnPhone(item) && !isFromPerson(item));
  return {
    key,
    agent: items.findLast(({ kind }) => kind !== 'sms')?.agent ?? null,
    peer: last.kind === 'sms' ? last.peer : null,
    items,
    at: last.at,
    preview: previewOf(last),
    unread: arrived.filter(({ at }) => seenAt === undefined || at > seenAt).length,
  };
}

/**
 * Conversations, the latest first. Messages that still wait for the phone are in none. `seen`: the last visit of each.
 */
export function threadsOf(items, seen = {}) {
  const byKey = new Map();
  for (const item of items) {
    if (item.state === 'waiting') continue;
    const key = threadKeyOf(item);
    byKey.set(key, [...(byKey.get(key) ?? []), item]);
  }
  return [...byKey]
    .map(([key, those]) => threadOf(key, those, seen[key]))
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0));
}

/** How many messages would arrive if the phone came online. */
export const waitingIn = (items, now) => items.filter((item) => item.state === 'waiting' && !isOver(item, now)).length;

/** Whether the item's time to live is over. */
export const isOver = (item, now) => typeof item.expiresAt === 'string' && Date.parse(item.expiresAt) <= now;

/** The text of the button that was tapped. */
export const choiceOf = (item) => item.suggestions.find(({ index }) => index === item.tapped)?.text ?? '';

/** The state of a card for the person: `open` can be answered. */
export function cardStateOf(item, now) {
  if (item.state === 'revoked' || item.state === 'expired') return item.state;
  if (item.tapped !== null) return 'answered';
  return isOver(item, now) ? 'over' : 'open';
}

/** Numbers to compare with another screen all look alike; otherwise the first button is the primary one. */
export const suggestionLayoutOf = (suggestions) =>
  suggestions.filter(({ text }) => MATCH_NUMBER.test(text)).length > 1 ? 'numbers' : 'actions';

/** The one-time code in a text, which phones offer to copy. */
export const codeIn = (text) => CODE.exec(text)?.[0] ?? null;

/** The entries of a thread from top to bottom: days, items, and after its card the choice that was tapped. */
export function entriesOf(items, now, locale) {
  const entries = [];
  let day = null;
  for (const item of items) {
    const its = dayOf(item.at, now, locale);
    if (its !== day) entries.push({ key: `day-${its}`, kind: 'day', text: its });
    day = its;
    entries.push({ key: item.id, kind: item.kind, mine: isFromPerson(item), item });
    if (item.kind === 'card' && item.tapped !== null && isOnPhone(item)) {
      entries.push({ key: `${item.id}-choice`, kind: 'choice', mine: true, text: choiceOf(item) });
    }
  }
  return entries;
}

/** The three kinds of RCS support of a number, from its switches. */
export function networkOf(view) {
  if (view === undefined || !view.reachable) return 'none';
  return view.online ? 'online' : 'offline';
}

/** The switches of each kind. */
export const SWITCHES = {
  online: { reachable: true, online: true },
  offline: { reachable: true, online: false },
  none: { reachable: false, online: true },
};
