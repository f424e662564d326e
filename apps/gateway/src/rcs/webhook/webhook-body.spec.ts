import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isClientToken, isSigned, parseWebhookBody } from './webhook-body.js';

const TOKEN = 'SAMPLE-CLIENT-TOKEN';
/** The platform's documented event, and its signature under TOKEN. */
const DATA =
  'eyJhZ2VudElkIjoiYWNtZV92ZXJpZnlfeDFAcmJtLmdvb2ciLCJzZW5kZXJQaG9uZU51bWJlciI6IisxMjAyNTU1MDEyMyIsIm1lc3NhZ2VJZCI6Ik14QTFiMkMzZDQiLCJzZW5kVGltZSI6IjIwMjYtMDEtMTVUMTA6MDA6MDcuNDEyWiIsInN1Z2dlc3Rpb25SZXNwb25zZSI6eyJwb3N0YmFja0RhdGEiOiJ2MS5hLnNlc3NfMDEuOWYyYyIsInRleHQiOiJBcHByb3ZlIiwidHlwZSI6IlJFUExZIn19';
const SIGNATURE = 'OmNZCJF2mmyVuc2h+BIA4+5ojyvkD3oKfsF7RlFBZgyw0HNgomLvN26U24+kwkJwpx2w7n0t2zdkQ2effIHQoA==';

const read = (body: unknown): ReturnType<typeof parseWebhookBody> =>
  parseWebhookBody(Buffer.from(JSON.stringify(body)));

describe('a body on the webhook', () => {
  it('is a push with decoded data when it has a message', () => {
    const body = { message: { data: DATA, attributes: { business_id: 'x' }, messageId: '1' }, subscription: 's' };
    expect(read(body)).toEqual({ kind: 'push', data: Buffer.from(DATA, 'base64') });
  });

  it('is a handshake when it has the token and a secret', () => {
    expect(read({ clientToken: TOKEN, secret: '1234567890' })).toEqual({
      kind: 'handshake',
      clientToken: TOKEN,
      secret: '1234567890',
    });
  });

  it('is a push with as many attributes as the platform may have, whatever characters its texts have', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 100 }, (_, nth) => [`a${nth}`, '{"[,:\\\\" \\'.repeat(9)]),
    );
    expect(read({ message: { data: DATA, attributes } }).kind).toBe('push');
  });

  it('is unreadable with very many members, which are not parsed', () => {
    const names = Object.fromEntries(Array.from({ length: 6_600 }, (_, nth) => [String(nth), 0]));
    for (const body of [names, { message: { data: DATA, attributes: names } }, { clientToken: TOKEN, secret: names }]) {
      expect(read(body)).toEqual({ kind: 'unreadable', because: 'The body has too many members.' });
    }
    expect(parseWebhookBody(Buffer.from('['.repeat(100_000))).kind).toBe('unreadable');
  });

  it('is a push when it has the members of both, so that it needs a signature', () => {
    expect(read({ message: { data: DATA }, clientToken: TOKEN, secret: '1' }).kind).toBe('push');
  });

  it.each([
    ['nothing', ''],
    ['not JSON', '{'],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a message that is not an object', '{"message":"x"}'],
    ['a message that is a list', '{"message":["data"]}'],
    ['a message without data', '{"message":{}}'],
    ['data that is not a string', '{"message":{"data":1}}'],
    ['empty data', '{"message":{"data":""}}'],
    ['base64 without its padding', '{"message":{"data":"e30"}}'],
    ['base64 of the URL alphabet', '{"message":{"data":"-_-_"}}'],
    ['base64 with white space', '{"message":{"data":"e30=\\n"}}'],
    ['base64 with excess bits', '{"message":{"data":"e31="}}'],
    ['data that an object inherits', '{"message":{"__proto__":{"data":"e30="}}}'],
    ['a handshake without a secret', '{"clientToken":"x"}'],
    ['a handshake with a number', '{"clientToken":"x","secret":1}'],
    ['an overlong secret', JSON.stringify({ clientToken: TOKEN, secret: 'x'.repeat(2_000) })],
    ['a byte order mark inside', '{"clientToken":\ufeff"x","secret":"y"}'],
  ])('is unreadable when it is %s', (_, text) => {
    expect(parseWebhookBody(Buffer.from(text)).kind).toBe('unreadable');
  });

  it('is unreadable when it is not UTF-8', () => {
    expect(parseWebhookBody(Buffer.from([0x7b, 0xff, 0x7d])).kind).toBe('unreadable');
  });

  it('is parsed without a throw for any octets', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => void parseWebhookBody(Buffer.from(octets))));
    fc.assert(fc.property(fc.json(), (text) => void parseWebhookBody(Buffer.from(text))));
  });

  it('returns exactly the octets that were sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), (octets) => {
        const data = Buffer.from(octets);
        expect(read({ message: { data: data.toString('base64') } })).toEqual({ kind: 'push', data });
      }),
    );
  });
});

describe('a signature', () => {
  const data = Buffer.from(DATA, 'base64');

  it('matches the example of the platform’s documentation', () => {
    expect(isSigned(TOKEN, data, SIGNATURE)).toBe(true);
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['truncated', SIGNATURE.slice(0, -4)],
    ['unpadded', SIGNATURE.slice(0, -2)],
    ['followed by a space', `${SIGNATURE} `],
    ['repeated', `${SIGNATURE},${SIGNATURE}`],
    ['in hexadecimal', Buffer.from(SIGNATURE, 'base64').toString('hex')],
    ['of SHA-256', createHmac('sha256', TOKEN).update(data).digest('base64')],
    ['of the text in base64', createHmac('sha512', TOKEN).update(DATA).digest('base64')],
    ['of another token', createHmac('sha512', 'ANOTHER').update(data).digest('base64')],
  ])('is wrong when it is %s', (_, header) => {
    expect(isSigned(TOKEN, data, header)).toBe(false);
  });

  it('is valid for the signed octets, and for none that differ in one bit', () => {
    const bits = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.nat(7));
    fc.assert(
      fc.property(bits, ([octets, at, bit]) => {
        const signed = Buffer.from(octets);
        const header = createHmac('sha512', TOKEN).update(signed).digest('base64');
        expect(isSigned(TOKEN, signed, header)).toBe(true);
        const index = at % signed.length;
        const other = Buffer.from(signed);
        other[index] = (other[index] ?? 0) ^ (1 << bit);
        expect(isSigned(TOKEN, other, header)).toBe(false);
      }),
    );
  });

  it('matches the exact token only', () => {
    expect(isClientToken(TOKEN, TOKEN)).toBe(true);
    for (const other of ['', `${TOKEN} `, TOKEN.toLowerCase(), TOKEN.slice(1)]) {
      expect(isClientToken(TOKEN, other)).toBe(false);
    }
  });
});
