import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEnvelope, encodeEnvelope } from './request-envelope.js';

const octets = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

describe('an encoded request', () => {
  it('is decoded to the original', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), octets, (id, replyTo, payload) => {
        expect(decodeEnvelope(encodeEnvelope({ id, replyTo, payload }))).toEqual({ id, replyTo, payload });
      }),
    );
  });

  it.each(['', '\n', 'null\n', '7\n', '{}\n', '{"id":"1"}\n', '{"id":1,"replyTo":"x"}\n', '{"id":"1","replyTo":"x"}'])(
    'is null: %j',
    (text) => {
      expect(decodeEnvelope(Buffer.from(text))).toBeNull();
    },
  );

  it('is a request or null for any octets, never an exception', () => {
    fc.assert(
      fc.property(octets, (given) => {
        decodeEnvelope(given);
        decodeEnvelope(Buffer.concat([given, Buffer.from('\n'), given]));
      }),
    );
  });
});
