import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrame } from './realtime-frame.js';

const read = (frame: unknown): unknown => readFrame(JSON.stringify(frame));

describe('a frame of the service', () => {
  it.each([
    [{ type: 'welcome', authenticated: true, heartbeatMs: 25_000 }],
    [{ type: 'authenticated' }],
    [{ type: 'subscribed', id: '1', channel: 'session:x', snapshot: { a: 1 } }],
    [{ type: 'subscribed', id: '1', channel: 'account:x', snapshot: null }],
    [{ type: 'event', channel: 'session:x', id: 'evt_1', event: 'e', timestamp: 't', data: { a: [] } }],
    [{ type: 'unsubscribed', id: '2', channel: 'session:x' }],
    [{ type: 'pong' }],
    [{ type: 'closing', reconnectAfterMs: 1_500 }],
  ])('is parsed, ignoring unknown fields: %j', (frame) => {
    expect(read({ ...frame, added: true })).toEqual(frame);
  });

  it('may lack its id, and an error has nested fields', () => {
    expect(read({ type: 'unsubscribed', channel: 'c' })).toEqual({ type: 'unsubscribed', id: null, channel: 'c' });
    expect(read({ type: 'error', id: '1', error: { code: 'NOT_FOUND', message: 'No.' } })).toEqual({
      type: 'error',
      id: '1',
      code: 'NOT_FOUND',
      message: 'No.',
    });
    expect(read({ type: 'error', error: { code: 'NOT_FOUND' } })).toMatchObject({ id: null, message: '' });
  });

  it('has durations within the range of timers', () => {
    for (const heartbeatMs of [undefined, null, 'x', 0, -1])
      expect(read({ type: 'welcome', authenticated: false, heartbeatMs })).toMatchObject({ heartbeatMs: 25_000 });
    expect(read({ type: 'welcome', heartbeatMs: 1e12 })).toMatchObject({ authenticated: false, heartbeatMs: 300_000 });
    expect(read({ type: 'closing', reconnectAfterMs: 1e12 })).toMatchObject({ reconnectAfterMs: 300_000 });
    expect(read({ type: 'closing' })).toMatchObject({ reconnectAfterMs: null });
  });

  it.each(['', '{', 'null', '[]', '7', '{"type":"event"}', '{"type":"subscribed"}', '{"type":"error"}', '{"type":7}'])(
    'is null: %s',
    (text) => {
      expect(readFrame(text)).toBeNull();
    },
  );

  it('is parsed or null for any input, without an exception', () => {
    const types = fc.constantFrom('welcome', 'subscribed', 'event', 'unsubscribed', 'error', 'closing', 'x');
    const names = fc.constantFrom('id', 'channel', 'event', 'timestamp', 'data', 'error', 'snapshot', 'heartbeatMs');
    fc.assert(
      fc.property(types, fc.dictionary(names, fc.jsonValue()), (type, fields) => {
        const frame = readFrame(JSON.stringify({ ...fields, type }));
        expect(frame === null || frame.type === type).toBe(true);
      }),
    );
    fc.assert(fc.property(fc.anything(), (data) => void readFrame(data)));
  });
});
