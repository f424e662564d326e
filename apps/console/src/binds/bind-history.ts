import { changesOf, type Entry } from '../audit/audit-queries.js';
import type { Tone } from '../ui/layout.js';
import { type Bind, STATE_TONES } from './bind-queries.js';

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
};

function ofEntry({ at, action, actor, before, after }: Entry): HistoryEntry {
  const fields = action === 'update' ? Object.keys(changesOf({ before, after })).join(', ') : '';
  const text = ACTS[action] ?? action;
  return { at, tone: 'accent', text: fields === '' ? text : `${text}: ${fields}`, detail: `by ${actor}` };
}

/** The state of each connection with its last errors: a gateway keeps the last two. */
function ofConnections({ status }: Bind): HistoryEntry[] {
  return status.connections.flatMap((connection, slot): HistoryEntry[] => {
    const { state, since, owner, lastError, lastErrorAt, previousError } = connection;
    const name = `Connection ${String(slot)}`;
    const entries: HistoryEntry[] = [];
    if (since !== null) {
      const detail = owner === null ? null : `held by ${owner}`;
      entries.push({ at: since, tone: STATE_TONES[state], text: `${name} is ${state}`, detail });
    }
    if (lastError !== null && lastErrorAt !== null)
      entries.push({ at: lastErrorAt, tone: 'bad', text: `${name} failed`, detail: lastError });
    if (previousError !== null)
      entries.push({ at: previousError.at, tone: 'bad', text: `${name} failed`, detail: previousError.error });
    return entries;
  });
}

/** The changes of a bind and the states of its connections, newest first. */
export const historyOf = (bind: Bind, entries: readonly Entry[]): HistoryEntry[] =>
  [...entries.map(ofEntry), ...ofConnections(bind)].sort((one, other) => other.at.localeCompare(one.at, 'en'));
