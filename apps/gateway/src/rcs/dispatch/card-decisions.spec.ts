import type { AppliedEvents } from '@countersign/rcs/events';
import type { CardEvent, CardTap } from '@countersign/rcs/rules';
import type { Executor } from '@countersign/postgres';
import { noStatement, runStatements, type Statements } from '@countersign/postgres/statements';
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

const NONE: AppliedEvents = { rcsDelivered: [], taps: [], cardOutcomes: [], arrivals: [] };

const tap = (cardId: string, verdict: CardTap['verdict']): CardTap => ({
  cardId,
  eventId: `event of ${cardId}`,
  phone: '+14155552671',
  verdict,
});

/** CardDecisions over recording stores, and their calls in order; the sessions in `ended` are live. */
function opened(applied: Partial<AppliedEvents>, ended: readonly string[] = []) {
  const calls: string[] = [];
  const call = <T>(name: string, answer: T): Promise<T> => {
    calls.push(name);
    return Promise.resolve(answer);
  };
  const planned = <T>(name: string, answer: T): Statements<T> => {
    calls.push(name);
    return noStatement(answer);
  };
  const decisions = new CardDecisions(
    {
      transaction: (work) => work(TX),
      readThenWrite: async (read, write) => runStatements(TX, write(await read(TX))),
    },
    {
      claimEvents: () => Promise.resolve([EVENT]),
      claimOldestEvents: () => Promise.resolve([EVENT]),
      refuseEvent: () => Promise.resolve(true),
      applyEvents: () => call('apply', { ...NONE, ...applied }),
      recordTapResults: (_tx, _taps, ids) => call(`record ${ids.join()}`, undefined),
    },
    {
      prepareArrivals: (_tx, events) => call('prepare', { events, judged: [], ...NONE, ...applied }),
      storeArrivals: () => planned('store', ['unprocessed']),
    },
    {
      markRcsDelivered: (ids, tapped) => planned(`rcs ${ids.join()} of ${tapped?.join() ?? ''}`, []),
      applyCardDecision: (_tx, { ids, trigger }) => {
        const live = ids.filter((id) => ended.includes(id));
        return call(`${trigger} ${ids.join()}`, { ended: live, eventIds: live.map((id) => `end of ${id}`) });
      },
    },
  );
  return { decisions, calls };
}

async function processed(applied: Partial<AppliedEvents>, ended: readonly string[] = []): Promise<[Decided, string[]]> {
  const { decisions, calls } = opened(applied, ended);
  return [await decisions.processEvents(['event']), calls];
}

describe('processing events in one transaction', () => {
  it('locks the sessions of all taps together with those that become rcs, before it ends any', async () => {
    const taps = [tap('c', 'deny'), tap('a', 'approve'), tap('b', 'approve')];
    const [, calls] = await processed({ rcsDelivered: ['b'], taps }, ['a', 'c']);
    expect(calls).toEqual(['apply', 'rcs b of a,b,c', 'approve a,b', 'deny c', 'record a,c']);
  });

  it('returns which taps ended their sessions and which came late', async () => {
    const [decided] = await processed({ taps: [tap('a', 'approve'), tap('b', 'deny'), tap('c', 'deny')] }, ['a', 'c']);
    expect(decided.taps.map(({ cardId, ended }) => [cardId, ended])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    expect(decided.eventIds).toEqual(['end of a', 'end of c']);
  });

  it('records no tap results without taps', async () => {
    const [decided, calls] = await processed({ rcsDelivered: ['a'] });
    expect(calls.filter((name) => name.startsWith('record'))).toEqual([]);
    expect(decided.taps).toEqual([]);
  });
});

it('an arrival is stored and applied, and its session becomes rcs, in the same transaction', async () => {
  const arrivals = [{ cardId: 'a', agentId: 'acme_agent', afterMs: 7 }];
  const { decisions, calls } = opened({ rcsDelivered: ['a'], arrivals });
  expect(await decisions.storeEvents([{ ...EVENT, kind: 'delivered' }])).toEqual({
    unprocessed: ['unprocessed'],
    decided: { cardOutcomes: [], eventIds: [], arrivals, taps: [] },
  });
  expect(calls).toEqual(['prepare', 'store', 'rcs a of ']);
});
