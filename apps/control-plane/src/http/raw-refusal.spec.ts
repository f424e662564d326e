import { describe, expect, it } from 'vitest';
import { isBelowHttp, rawAnswer, refusalOfBrokenHttp } from './raw-refusal.js';

describe('broken HTTP', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', 'PAYLOAD_TOO_LARGE'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'MALFORMED_REQUEST'],
    ['HPE_INVALID_METHOD', 'MALFORMED_REQUEST'],
    [undefined, 'MALFORMED_REQUEST'],
  ])('%s is refused as %s', (nodeCode, code) => {
    expect(refusalOfBrokenHttp(nodeCode).code).toBe(code);
  });

  it.each([
    ['ERR_TLS_HANDSHAKE_TIMEOUT', true],
    ['ERR_SSL_HTTP_REQUEST', true],
    ['ECONNRESET', true],
    ['HPE_INVALID_METHOD', false],
    ['ERR_HTTP_REQUEST_TIMEOUT', false],
    [undefined, false],
  ])('%s precedes any HTTP: %s', (nodeCode, below) => {
    expect(isBelowHttp(nodeCode)).toBe(below);
  });

  it('is answered like any other refusal, and the connection closes', () => {
    const [head = '', body = ''] = rawAnswer({ code: 'MALFORMED_REQUEST', message: 'Nö.' }, 'https://cs.test', {
      'x-request-id': 'req_1',
      ratelimit: '"ip";r=60;t=60',
    }).split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual([
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'x-request-id: req_1',
      'ratelimit: "ip";r=60;t=60',
      'Cache-Control: no-store',
      'Connection: close',
    ]);
    expect(JSON.parse(body)).toEqual({
      error: { code: 'MALFORMED_REQUEST', message: 'Nö.', docUrl: 'https://cs.test/docs/errors/MALFORMED_REQUEST' },
    });
  });
});
