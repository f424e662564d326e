import { withEvent, type ConnectionEvent } from '@countersign/carriers/status';
import { describe, expect, it } from 'vitest';
import { ConnectionHistory } from './connection-history.js';

const SELF = '01890000-0000-7000-8000-000000000001';
const FORMER = '01890000-0000-7000-8000-000000000002';
const NOW = '2026-01-31T12:00:00.000Z';
const BEFORE = '2026-01-31T11:00:00.000Z';

const newHistory = (earlier: readonly ConnectionEvent[] = []) => new ConnectionHistory(earlier, SELF, () => NOW);
const kinds = (history: ConnectionHistory) => (history.unstored ?? []).map(({ event }) => event);

describe('the history of a connection', () => {
  it('records the end of a link, and none of an attempt that was given up', () => {
    const history = newHistory();
    history.addEnd('a:1');
    history.add('error', 'a:1', 'refused');
    history.addEnd('a:1');
    expect(kinds(history)).toEqual(['error']);
    history.add('bound', 'a:1', null);
    history.addEnd('a:1');
    expect(kinds(history)).toEqual(['error', 'bound', 'unbound']);
  });

  it('says of a connection whose gateway could not record its end that it has ended', () => {
    const bound = { event: 'bound', at: BEFORE, host: 'a:1', error: null, gatewayId: FORMER } as const;
    const history = newHistory(withEvent([], bound));
    expect(history.unstored?.at(-1)).toMatchObject({
      ...{ event: 'unbound', at: NOW, host: 'a:1', gatewayId: FORMER },
      error: 'its gateway stopped, or could not renew its lease',
    });
  });

  it('records the end of a link also after an attempt beside it has failed', () => {
    const bound = { event: 'bound', at: BEFORE, host: 'a:1', error: null, gatewayId: FORMER } as const;
    const beside = { event: 'error', at: BEFORE, host: null, error: 'b:1: refused', gatewayId: FORMER } as const;
    expect(kinds(newHistory([bound, beside].reduce<readonly ConnectionEvent[]>(withEvent, [])))).toEqual([
      ...['bound', 'error', 'unbound'],
    ]);
    const history = newHistory();
    history.add('bound', 'a:1', null);
    history.add('error', null, 'b:1: refused');
    history.addEnd('a:1');
    expect(kinds(history)).toEqual(['bound', 'error', 'unbound']);
  });

  it('has nothing to store after it was stored, until the next event', () => {
    const error = { event: 'error', at: BEFORE, host: 'a:1', error: 'refused', gatewayId: FORMER } as const;
    const history = newHistory(withEvent([], error));
    expect(history.unstored).toBeUndefined();
    history.add('bound', 'a:1', null);
    const written = history.unstored ?? [];
    history.add('draining', 'a:1', null);
    history.markStored(written);
    expect(kinds(history)).toEqual(['error', 'bound', 'draining']);
    history.markStored(history.unstored ?? []);
    expect(history.unstored).toBeUndefined();
  });
});
