import { describe, expect, it } from 'vitest';
import { judgeWebhookHead, MAX_BODY_OCTETS, MAX_HANDSHAKE_OCTETS, type WebhookHead } from './webhook-head.js';

const SIGNATURE = `${'A'.repeat(86)}==`;
const head = (changes: Partial<WebhookHead>): WebhookHead => ({
  signature: SIGNATURE,
  contentType: 'application/json',
  contentLength: 300,
  ...changes,
});

describe('the headers of a webhook request', () => {
  it.each<[string, Partial<WebhookHead>, number]>([
    ['a signed body', {}, MAX_BODY_OCTETS],
    ['a signed body of unknown length', { contentLength: null }, MAX_BODY_OCTETS],
    ['a signed body of the largest size', { contentLength: MAX_BODY_OCTETS }, MAX_BODY_OCTETS],
    ['a possible handshake', { signature: undefined }, MAX_HANDSHAKE_OCTETS],
    ['a possible handshake of unknown length', { signature: undefined, contentLength: null }, MAX_HANDSHAKE_OCTETS],
    ['a body without a content type', { contentType: undefined }, MAX_BODY_OCTETS],
  ])('admit %s', (_, changes, maxOctets) => {
    expect(judgeWebhookHead(head(changes))).toEqual({ kind: 'read', maxOctets });
  });

  it.each<[string, Partial<WebhookHead>, string]>([
    ['a signed body over the limit', { contentLength: MAX_BODY_OCTETS + 1 }, 'PAYLOAD_TOO_LARGE'],
    [
      'an unsigned body larger than a handshake',
      { signature: undefined, contentLength: MAX_HANDSHAKE_OCTETS + 1 },
      'UNAUTHORIZED',
    ],
    ['an empty signature', { signature: '', contentLength: MAX_HANDSHAKE_OCTETS + 1 }, 'UNAUTHORIZED'],
    ['a signature of another length', { signature: 'abc=', contentLength: 10_000 }, 'UNAUTHORIZED'],
    ['another content type', { contentType: 'text/plain' }, 'UNSUPPORTED_MEDIA_TYPE'],
  ])('refuse %s', (_, changes, code) => {
    expect(judgeWebhookHead(head(changes))).toEqual({ kind: 'refuse', code });
  });
});
