import { describe, expect, it } from 'vitest';
import { isConsoleHandshake, judgeHandshake, type Handshake } from './handshake.js';

const GOOD: Handshake = {
  method: 'GET',
  url: '/v1/realtime',
  headers: {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'other, countersign.v1',
  },
};
const codeOf = (change: Partial<Handshake>, headers: Handshake['headers'] = {}) =>
  judgeHandshake({ ...GOOD, ...change, headers: { ...GOOD.headers, ...headers } })?.refusal.code;

describe('a handshake', () => {
  it.each([
    {},
    { url: '/v1/realtime?x=1' },
    { url: 'https://host/v1/realtime' },
    { url: '/console/api/v1/realtime?mode=test' },
  ])('is valid: %j', (change) => {
    expect(codeOf(change)).toBeUndefined();
  });

  it.each([
    ['/v1/realtime', false],
    ['/v1/realtime?/console/api/v1/realtime', false],
    ['/console/api/v1/realtime', true],
    ['https://host/console/api/v1/realtime?mode=test', true],
  ])('at %s is one of the console, or not', (url, isOfConsole) => {
    expect(isConsoleHandshake({ url })).toBe(isOfConsole);
  });

  it('need not offer the subprotocol', () => {
    const { 'sec-websocket-protocol': _ours, ...headers } = GOOD.headers;
    expect(judgeHandshake({ ...GOOD, headers })).toBeNull();
  });

  it.each(['/', '/v1', '/v1/realtime/', '/v2/realtime', '/V1/REALTIME', '//v1/realtime', '/console/v1/realtime', ''])(
    'is for one path only: %s',
    (url) => {
      expect(codeOf({ url })).toBe('NOT_FOUND');
    },
  );

  it.each([
    [{ method: 'POST' }, {}],
    [{}, { upgrade: 'h2c' }],
    [{}, { 'sec-websocket-version': '8' }],
    [{}, { 'sec-websocket-key': 'short' }],
    [{}, { 'sec-websocket-protocol': 'graphql-transport-ws' }],
    [{}, { 'sec-websocket-protocol': 'countersign.v11' }],
    [{}, { 'sec-websocket-protocol': 'countersign.v1, countersign.v1' }],
    [{}, { 'sec-websocket-protocol': 'countersign.v1,' }],
    [{}, { 'sec-websocket-protocol': 'countersign.v1, a b' }],
    [{}, { 'sec-websocket-protocol': '' }],
  ])('is refused: %j %j', (change, headers) => {
    expect(codeOf(change, headers)).toBe('MALFORMED_REQUEST');
  });

  it('is refused with the supported version', () => {
    const refused = judgeHandshake({ ...GOOD, headers: { ...GOOD.headers, 'sec-websocket-version': '8' } });
    expect(refused?.headers).toEqual({ 'sec-websocket-version': '13' });
  });
});
