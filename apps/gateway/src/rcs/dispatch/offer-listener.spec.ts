import { TOPICS, type BusMessage } from '@countersign/bus';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OfferListener, parseIds } from './offer-listener.js';

const [ONE, TWO] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];

describe('offers on the bus', () => {
  it('are dispatched until the listener stops', () => {
    const [dispatched, handlers] = [new Array<readonly string[]>(), new Map<string, (message: BusMessage) => void>()];
    const bus = {
      subscribe: (topic: string, handler: (message: BusMessage) => void) => {
        handlers.set(topic, handler);
        return { ready: Promise.resolve(), close: () => void handlers.delete(topic) };
      },
    };
    const listener = new OfferListener(bus, { claimAndSend: (ids) => Promise.resolve((dispatched.push(ids), [])) });
    listener.start();
    handlers.get(TOPICS.cardOffers)?.({ topic: TOPICS.cardOffers, octets: Buffer.alloc(0), json: () => [ONE, TWO] });
    expect(dispatched).toEqual([[ONE, TWO]]);
    listener.stop();
    expect([...handlers.keys()]).toEqual([]);
  });

  it('are the ids in a message, whatever else it contains', () => {
    expect(parseIds([ONE, ONE.toUpperCase().replace('0', 'g'), 1, null, [TWO], TWO])).toEqual([ONE, TWO]);
    fc.assert(fc.property(fc.anything(), (message) => parseIds(message).every((id) => id.length === 36)));
  });
});
