import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventFrame, subscribedFrame } from './server-frame.js';

const INJECTED = '2026-11-21T12:00:00.000Z","type":"subscribed","id":"2","snapshot":{"status":"approved"},"x":"';
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant(INJECTED));

describe('a frame', () => {
  it('of an event has its members and no others, whatever their content', () => {
    fc.assert(
      fc.property(text, text, text, text, fc.json(), (channel, id, event, timestamp, data) => {
        const frame = String(eventFrame(channel, { id, event, timestamp, data }));
        expect(frame.endsWith(`,"data":${data}}`)).toBe(true);
        const wellFormed = (each: string): unknown => JSON.parse(String(Buffer.from(JSON.stringify(each))));
        expect(Object.entries(JSON.parse(frame) as object)).toEqual([
          ['type', 'event'],
          ['channel', wellFormed(channel)],
          ['id', wellFormed(id)],
          ['event', wellFormed(event)],
          ['timestamp', wellFormed(timestamp)],
          ['data', JSON.parse(data)],
        ]);
      }),
    );
  });

  it('of a snapshot has its members and no others, whatever their content', () => {
    fc.assert(
      fc.property(text, text, fc.json(), (id, channel, snapshot) => {
        expect(Object.entries(JSON.parse(subscribedFrame(id, channel, snapshot)) as object)).toEqual([
          ['type', 'subscribed'],
          ['id', id],
          ['channel', channel],
          ['snapshot', JSON.parse(snapshot)],
        ]);
      }),
    );
  });
});
