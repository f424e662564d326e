import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONNECTION_EVENTS, MAX_EVENTS, parseEvents, withEvent, type ConnectionEvent } from './connection-event.js';

const GATEWAY = '01890000-0000-7000-8000-000000000001';
const OTHER = '01890000-0000-7000-8000-000000000002';
/** As the table bounds them. */
const MAX_OCTETS = 131_072;
const at = (second: number): string => new Date(second * 1_000).toISOString();

type Added = Parameters<typeof withEvent>[1];
const error = (text: string, change: Partial<Added> = {}): Added => ({
  ...{ event: 'error', at: at(0), host: 'a:1', error: text, gatewayId: GATEWAY, ...change },
});
const bound: Added = { event: 'bound', at: at(0), host: 'a:1', error: null, gatewayId: GATEWAY };
const all = (added: readonly Added[]): readonly ConnectionEvent[] =>
  added.reduce<readonly ConnectionEvent[]>(
    (events, each, second) => withEvent(events, { ...each, at: at(second) }),
    [],
  );
const counts = (events: readonly ConnectionEvent[]) => events.map(({ event, host, times }) => [event, host, times]);

describe('the events of a connection', () => {
  it('count an error that is repeated, also between others, with its first and last time', () => {
    const events = all([error('refused'), error('refused', { host: 'b:1' }), error('refused')]);
    expect(counts(events)).toEqual([
      ['error', 'a:1', 2],
      ['error', 'b:1', 1],
    ]);
    expect(events[0]).toMatchObject({ at: at(0), lastAt: at(2) });
  });

  it('have an error anew after the next bind, and for another gateway', () => {
    const events = all([error('refused'), bound, error('refused'), error('refused', { gatewayId: OTHER })]);
    expect(counts(events)).toEqual([
      ['error', 'a:1', 1],
      ['bound', 'a:1', 1],
      ['error', 'a:1', 1],
      ['error', 'a:1', 1],
    ]);
  });

  it('count no bind that is repeated: each is one of its own', () => {
    expect(all([bound, bound])).toHaveLength(2);
  });

  it('are bounded in number and octets, and are read as they were stored', () => {
    const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));
    const anyText = fc.oneof(
      fc.string({ unit: anyUnit, maxLength: 400 }),
      fc.string({ unit: fc.constantFrom('\0', '\u0001', '😀'), maxLength: 400 }),
    );
    const added = fc.record({
      event: fc.constantFrom(...CONNECTION_EVENTS),
      at: fc
        .date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      host: fc.option(anyText),
      error: fc.option(anyText),
      gatewayId: fc.constantFrom(GATEWAY, OTHER),
    });
    fc.assert(
      fc.property(fc.array(added, { maxLength: 2 * MAX_EVENTS }), (them) => {
        const events = them.reduce<readonly ConnectionEvent[]>((before, each) => withEvent(before, each), []);
        const stored = JSON.stringify(events);
        expect(events.length).toBeLessThanOrEqual(MAX_EVENTS);
        expect(Buffer.byteLength(stored)).toBeLessThan(MAX_OCTETS);
        expect(stored).not.toMatch(/\\u(0000|d[89a-f])/);
        expect(parseEvents(JSON.parse(stored))).toEqual(events);
      }),
    );
  });

  it('leave out what no gateway stores', () => {
    const [good] = all([bound]);
    const wrong = [null, 7, 'x', [], {}, { ...good, at: 'never' }, { ...good, gatewayId: 'me' }];
    expect(parseEvents([...wrong, good])).toEqual([good]);
    fc.assert(fc.property(fc.jsonValue(), (value) => parseEvents(value).length <= MAX_EVENTS));
    for (const value of [undefined, null, {}, 'x']) expect(parseEvents(value)).toEqual([]);
  });
});
