import { changesOf, type Entry } from '../audit/audit-queries.js';
import type { Tone } from '../ui/layout.js';
import type { BindEvent } from './bind-queries.js';

/** One line of the timeline of a bind. */
export interface HistoryEntry {
  readonly at: string;
  readonly tone: Tone;
  readonly text: string;
  /** More about it, such as the author. */
  readonly detail: string | null;
}

const ACTS: Readonly<Record<string, string>> = {
  create: 'Created',
  update: 'Changed',
  enable: 'Enabled',
  disable: 'Disabled',
  drain: 'Drained',
  reconnect: 'Reconnected',
  'send-test': 'Test message sent',
};

function ofEntry({ at, action, actor, before, after }: Entry): HistoryEntry {
  const fields = action === 'update' ? Object.keys(changesOf({ before, after })).join(', ') : '';
  const text = ACTS[action] ?? action;
  return { at, tone: 'accent', text: fields === '' ? text : `${text}: ${fields}`, detail: `by ${actor}` };
}

const EVENTS: Readonly<Record<BindEvent['event'], { readonly tone: Tone; readonly text: string }>> = {
  bound: { tone: 'good', text: 'bound' },
  error: { tone: 'bad', text: 'failed' },
  draining: { tone: 'warn', text: 'drains' },
  unbound: { tone: 'warn', text: 'ended' },
};

function ofEvent({ slot, event, lastAt, times, host, error }: BindEvent): HistoryEntry {
  const { tone, text } = EVENTS[event];
  const often = times === 1 ? '' : `${String(times)} times`;
  const detail = [host, error, often].filter((part) => part !== null && part !== '').join(', ');
  return { at: lastAt, tone, text: `Connection ${String(slot)} ${text}`, detail: detail === '' ? null : detail };
}

/** Readers of the trace are in the audit log alone. */
const isChange = ({ action }: Entry): boolean => !action.startsWith('read-');

/** The changes of a bind and what happened to its connections, newest first. */
export const historyOf = (events: readonly BindEvent[], entries: readonly Entry[]): HistoryEntry[] =>
  [...entries.filter(isChange).map(ofEntry), ...events.map(ofEvent)].sort((one, other) =>
    other.at.localeCompare(one.at, 'en'),
  );
