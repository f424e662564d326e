import type { AppliedEvents } from '@countersign/rcs/events';
import type { CardEvent, CardTap } from '@countersign/rcs/rules';
import type { Executor } from '@countersign/postgres';
import { describe, expect, it } from 'vitest';
import { CardDecisions, type Decided } from './card-decisions.js';

const TX: Executor = { query: () => Promise.resolve([]) };

const EVENT: CardEvent = {
  id: 'event',
  kind: 'tap',
  agentId: 'acme_agent',
  phone: '+14155552671',
  messageId: null,
  cardId: 'a',
  choice: { kind: 'approve' },
  launchState: null,
  occurredAt: new Date(0),
};

const NONE: AppliedEvents = { chosen: [], taps: [], news: [], arrivals: [] };

const tap = (cardId: string, verdict: CardTap['verdict']): CardTap => ({
  cardId,
  eventId: `event of ${cardId}`,
  phone: '+14155552671',
  verdict,
});

/** What is asked of the rows, in order; the sessions of `ended` were live. */
function opened(applied: Partial<AppliedEvents>, ended: readonly string[] = []) {
  const asked: string[] = [];
  const ask = <T>(what: string, answer: T): Promise<T> => {
    asked.push(what);
    return Promise.resolve(answer);
  };
  const decisions = new CardDecisions({
    database: {
      transaction: (work) => work(TX),
      readThenWrite: async (read, write) => write(TX, await read(TX)),
    },
    cards: {
      judgeArrivals: (_tx, events) => ask('judge', { events, judged: [], ...NONE, ...applied }),
      storeArrivals: () => ask('store', ['left']),
      takeEvents: () => Promise.resolve([EVENT]),
      applyEvents: () => ask('apply', { ...NONE, ...applied }),
      noteEnded: (_tx, _taps, ids) => ask(`note ${ids.join()}`, undefined),
    },
    sessions: {
      markRcsDelivered: (_tx, ids, tapped) => ask(`choose ${ids.join()} of ${tapped?.join() ?? ''}`, []),
      applyCardDecision: (_tx, { ids, trigger }) => {
        const live = ids.filter((id) => ended.includes(id));
        return ask(`${trigger} ${ids.join()}`, { ended: live, eventIds: live.map((id) => `end of ${id}`) });
      },
    },
  });
  return { decisions, asked };
}

async function deciding(applied: Partial<AppliedEvents>, ended: readonly string[] = []): Promise<[Decided, string[]]> {
  const { decisions, asked } = opened(applied, ended);
  return [await decisions.decide(['event']), asked];
}

describe('what events do in one transaction', () => {
  it('locks the sessions of all taps with those that become RCS, and only then ends any', async () => {
    const taps = [tap('c', 'deny'), tap('a', 'approve'), tap('b', 'approve')];
    const [, asked] = await deciding({ chosen: ['b'], taps }, ['a', 'c']);
    expect(asked).toEqual(['apply', 'choose b of a,b,c', 'approve a,b', 'deny c', 'note a,c']);
  });

  it('tells which taps ended their sessions, and which came late', async () => {
    const [decided] = await deciding({ taps: [tap('a', 'approve'), tap('b', 'deny'), tap('c', 'deny')] }, ['a', 'c']);
    expect(decided.taps.map(({ cardId, ended }) => [cardId, ended])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    expect(decided.eventIds).toEqual(['end of a', 'end of c']);
  });

  it('notes nothing of taps where there was none', async () => {
    const [decided, asked] = await deciding({ chosen: ['a'] });
    expect(asked.filter((what) => what.startsWith('note'))).toEqual([]);
    expect(decided.taps).toEqual([]);
  });
});

it('an arrival is stored with what it does, and its session chosen in the same transaction', async () => {
  const arrivals = [{ cardId: 'a', agentId: 'acme_agent', afterMs: 7 }];
  const { decisions, asked } = opened({ chosen: ['a'], arrivals });
  expect(await decisions.store([{ ...EVENT, kind: 'delivered' }])).toEqual({
    waiting: ['left'],
    decided: { news: [], eventIds: [], arrivals, taps: [] },
  });
  expect(asked).toEqual(['judge', 'store', 'choose a of ']);
});
