import type { BusMessage } from '@countersign/bus';
import { OFFERS_TOPIC } from '@countersign/rcs/rules';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OfferListener, readIds } from './offer-listener.js';

const [ONE, TWO] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];

describe('offers that a gateway hears of over the bus', () => {
  it('are taken until it stops', () => {
    const [taken, heard] = [new Array<readonly string[]>(), new Map<string, (message: BusMessage) => void>()];
    const bus = {
      subscribe: (topic: string, handler: (message: BusMessage) => void) => {
        heard.set(topic, handler);
        return { ready: Promise.resolve(), close: () => void heard.delete(topic) };
      },
    };
    const calls = new OfferListener(bus, { take: (ids) => Promise.resolve((taken.push(ids), [])) });
    calls.start();
    heard.get(OFFERS_TOPIC)?.({ topic: OFFERS_TOPIC, octets: Buffer.alloc(0), json: () => [ONE, TWO] });
    expect(taken).toEqual([[ONE, TWO]]);
    calls.stop();
    expect([...heard.keys()]).toEqual([]);
  });

  it('are those that are ids, whatever else the message says', () => {
    expect(readIds([ONE, ONE.toUpperCase().replace('0', 'g'), 1, null, [TWO], TWO])).toEqual([ONE, TWO]);
    fc.assert(fc.property(fc.anything(), (message) => readIds(message).every((id) => id.length === 36)));
  });
});
