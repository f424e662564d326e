import { describe, expect, it } from 'vitest';
import { REFUSALS, refusalBody, refusalOfStatus } from './webhook-refusal.js';

describe('refusalOfStatus', () => {
  it.each([
    [400, 'MALFORMED_REQUEST'],
    [404, 'MALFORMED_REQUEST'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [431, 'PAYLOAD_TOO_LARGE'],
    [499, 'MALFORMED_REQUEST'],
    [500, 'INTERNAL_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
    [200, 'INTERNAL_ERROR'],
  ])('of a status %d that the framework reports is %s', (status, code) => {
    expect(refusalOfStatus(status)).toBe(code);
  });
});

describe('refusalBody', () => {
  it('has the code and its usual message, or another one', () => {
    const { message } = REFUSALS.UNAUTHORIZED;
    expect(JSON.parse(refusalBody('UNAUTHORIZED'))).toEqual({ error: { code: 'UNAUTHORIZED', message } });
    expect(JSON.parse(refusalBody('UNAUTHORIZED', 'No.'))).toEqual({ error: { code: 'UNAUTHORIZED', message: 'No.' } });
  });
});
