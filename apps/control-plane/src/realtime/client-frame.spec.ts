import { renderId } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelName, parseChannel } from './channel.js';
import { parseClientFrame } from './client-frame.js';

const ID = '018bcfe5-6800-0000-0000-000000000001';
const SESSION = `session:${renderId('sess', ID)}`;
const parse = (value: unknown) => parseClientFrame(JSON.stringify(value));

describe('a frame of a client', () => {
  it.each([[{ type: 'auth', id: 'a', ticket: 'rtk_x' }], [{ type: 'ping', id: 7 }]])('is parsed: %j', (frame) => {
    expect(parse(frame)).toEqual(frame);
  });

  it.each(['subscribe', 'unsubscribe'])('names a channel: %s', (type) => {
    expect(parse({ type, id: 1, channel: SESSION })).toEqual({ type, id: 1, channel: { kind: 'session', id: ID } });
    expect(parse({ type, id: 1, channel: 'binds' })).toEqual({ type, id: 1, channel: { kind: 'binds' } });
  });

  it('may resume after an event', () => {
    const frame = { type: 'subscribe', id: 1, channel: 'binds', resumeAfter: 'evt_x' };
    expect(parse(frame)).toEqual({ ...frame, channel: { kind: 'binds' } });
    expect(parse({ ...frame, resumeAfter: 7 })).toMatchObject({ type: 'bad', id: 1, broken: true });
  });

  it('may have unknown members', () => {
    expect(parse({ type: 'ping', id: 1, since: 5 })).toEqual({ type: 'ping', id: 1 });
  });

  it.each([
    ['', null],
    ['{', null],
    ['null', null],
    ['7', null],
    ['[]', null],
    ['"ping"', null],
    ['{}', null],
    ['{"type":"ping"}', null],
    ['{"type":"ping","id":null}', null],
    ['{"type":"ping","id":""}', null],
    ['{"type":"ping","id":1.5}', null],
    ['{"type":"ping","id":1e300}', null],
    [`{"type":"ping","id":"${'x'.repeat(65)}"}`, null],
    ['{"type":"ping","id":{}}', null],
    ['{"type":"toString","id":"x"}', 'x'],
    ['{"type":"__proto__","id":"x"}', 'x'],
    ['{"type":["ping"],"id":"x"}', 'x'],
    ['{"type":"PING","id":"x"}', 'x'],
    ['{"__proto__":{"type":"ping","id":"x"}}', null],
    ['{"type":"auth","id":"x"}', 'x'],
    ['{"type":"auth","id":"x","ticket":7}', 'x'],
    [`{"type":"auth","id":"x","ticket":"${'t'.repeat(257)}"}`, 'x'],
    ['{"type":"subscribe","id":"x"}', 'x'],
    ['{"type":"subscribe","id":"x","channel":"session:"}', 'x'],
    ['{"type":"subscribe","id":"x","channel":"session:sess_00000000000000000000000000 "}', 'x'],
    ['{"type":"subscribe","id":"x","channel":"account:sess_00000000000000000000000000"}', 'x'],
    ['{"type":"subscribe","id":"x","channel":["binds"]}', 'x'],
    ['['.repeat(8_000), null],
  ])('is refused: %.60s', (text, id) => {
    expect(parseClientFrame(text)).toMatchObject({ type: 'bad', id });
  });

  it.each([
    [{ type: 'subscribe', id: 1, channel: 'session:what-somebody-typed' }, false],
    [{ type: 'subscribe', id: 1, channel: '' }, false],
    [{ type: 'unsubscribe', id: 1, channel: 'news' }, false],
    [{ type: 'subscribe', id: 1, channel: 7 }, true],
    [{ type: 'subscribe', id: 1, channel: 'x'.repeat(257) }, true],
    [{ type: 'subscribe', id: 1 }, true],
    [{ type: 'subscribe', channel: 'binds' }, true],
    [{ type: 'auth', id: 1, ticket: 7 }, true],
    [{ type: 'shout', id: 1 }, true],
  ])('is broken, or only has an unknown channel name: %j, broken: %s', (frame, broken) => {
    expect(parse(frame)).toMatchObject({ type: 'bad', broken });
  });

  it('is parsed or refused, whatever its content, and never quoted', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc
        .record({ type: fc.constantFrom('auth', 'subscribe', 'ping', 'x'), id: fc.anything(), channel: fc.string() })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const frame = parseClientFrame(text);
        expect(['auth', 'subscribe', 'unsubscribe', 'ping', 'bad']).toContain(frame.type);
        if (frame.type === 'bad') expect(frame.message.length).toBeLessThan(80);
      }),
    );
  });
});

describe('a channel', () => {
  it('has one canonical name', () => {
    const id = fc.uuid({ version: 4 });
    const channel = fc.oneof(
      fc.record({ kind: fc.constantFrom('session' as const, 'account' as const), id }),
      fc.constant({ kind: 'binds' as const }),
    );
    fc.assert(
      fc.property(channel, (each) => {
        expect(parseChannel(channelName(each))).toEqual(each);
      }),
    );
  });

  it('is broken with very many members, which are not parsed', () => {
    const names = Array.from({ length: 2_000 }, (_, nth) => `"n${nth}":0`).join();
    expect(parseClientFrame(`{"type":"ping","id":1,${names}}`)).toMatchObject({ type: 'bad', id: null, broken: true });
    expect(parseClientFrame(`{"type":"ping","id":1,"new":[1,2,3],"names":{"a":1,"b":2}}`)).toEqual({
      type: 'ping',
      id: 1,
    });
  });
});
