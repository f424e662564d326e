import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlatformEvent, type PlatformEvent } from './platform-event.js';

const AGENT = 'acme_verify_x1@rbm.goog';
const PHONE = '+12025550123';
const OURS = '4d1f6a5e-6f0b-4b58-9a3e-0c7d5a2f9b10';
const base = { agentId: AGENT, sendTime: '2026-01-15T10:00:07.412Z' };
const ofPhone = { ...base, senderPhoneNumber: PHONE };

const readText = (text: string): PlatformEvent | null => parsePlatformEvent(Buffer.from(text));
const read = (event: unknown): PlatformEvent | null => readText(JSON.stringify(event));

const quiet = { agentId: AGENT, phone: PHONE, messageId: null, postback: null, launchState: null };
const at = new Date('2026-01-15T10:00:07.412Z');

describe('an event of the platform', () => {
  it.each([
    ['DELIVERED', 'delivered'],
    ['READ', 'read'],
  ])('of type %s refers to our message', (eventType, kind) => {
    expect(read({ ...ofPhone, eventType, eventId: 'E1', messageId: OURS })).toEqual({
      ...quiet,
      kind,
      messageId: OURS,
      occurredAt: at,
      name: `${kind} ${AGENT} E1`,
    });
  });

  it.each([
    ['IS_TYPING', 'typing'],
    ['SUBSCRIBE', 'subscribed'],
    ['UNSUBSCRIBE', 'unsubscribed'],
    ['SOMETHING_NEW', 'other'],
    ['constructor', 'other'],
  ])('of type %s refers to the phone only', (eventType, kind) => {
    const name = `${kind} ${AGENT} E1`;
    expect(read({ ...ofPhone, eventType, eventId: 'E1' })).toEqual({ ...quiet, kind, occurredAt: at, name });
  });

  it.each([
    ['TTL_EXPIRATION_REVOKED', 'expired'],
    ['TTL_EXPIRATION_REVOKE_FAILED', 'expire_failed'],
  ])('of type %s has the phone in phoneNumber', (eventType, kind) => {
    const event = { ...base, phoneNumber: PHONE, messageId: OURS, eventType, eventId: 'E2' };
    expect(read(event)).toMatchObject({ kind, phone: PHONE, messageId: OURS, name: `${kind} ${AGENT} E2` });
  });

  it('that is a tap has the postback and no message id', () => {
    const suggestionResponse = { postbackData: 'v1.a.sess_01.9f2c', text: 'Approve', type: 'REPLY' };
    expect(read({ ...ofPhone, messageId: 'MxA1b2C3d4', suggestionResponse })).toEqual({
      ...quiet,
      kind: 'tap',
      postback: 'v1.a.sess_01.9f2c',
      occurredAt: at,
      name: `tap ${AGENT} MxA1b2C3d4`,
    });
  });

  it('that is a tap may lack its type, its time and its message', () => {
    const event = {
      agentId: AGENT,
      senderPhoneNumber: PHONE,
      eventId: 'E3',
      suggestionResponse: { postbackData: 'x' },
    };
    expect(read(event)).toMatchObject({ kind: 'tap', postback: 'x', occurredAt: null, name: `tap ${AGENT} E3` });
  });

  it('that is a tap without a postback has no decision from its label', () => {
    const suggestionResponse = { text: 'Approve', type: 'REPLY' };
    expect(read({ ...ofPhone, messageId: 'M', suggestionResponse })).toMatchObject({ kind: 'tap', postback: null });
  });

  it.each([
    ['a text', { text: 'Approve' }],
    ['a place', { location: { latitude: 1, longitude: 2 } }],
    ['a file', { userFile: { payload: {} } }],
  ])('that is %s drops the content that the person sent', (_, content) => {
    const event = read({ ...ofPhone, messageId: 'M1', ...content });
    expect(event).toEqual({ ...quiet, kind: 'text', occurredAt: at, name: `text ${AGENT} M1` });
  });

  it.each(['STOP', ' stop ', 'baja', 'Parar'])('that is the text %j is an unsubscription', (text) => {
    expect(read({ ...ofPhone, messageId: 'M1', text })?.kind).toBe('unsubscribed');
  });

  it('of an agent has its new launch state', () => {
    const event = { ...base, eventId: 'E4', oldLaunchState: 'LAUNCHED', newLaunchState: 'SUSPENDED', brandId: 'b' };
    expect(read(event)).toMatchObject({ kind: 'agent', phone: null, launchState: 'SUSPENDED' });
  });

  it.each([
    ['2026-01-15T10:00:07Z', '2026-01-15T10:00:07.000Z'],
    ['2026-01-15T10:00:07.123456789Z', '2026-01-15T10:00:07.123Z'],
    ['2026-01-15T12:00:07.5+02:00', '2026-01-15T10:00:07.500Z'],
  ])('with the time %s is parsed', (sendTime, expected) => {
    expect(read({ ...ofPhone, sendTime })?.occurredAt?.toISOString()).toBe(expected);
  });

  it.each(['', 'now', '0000-01-01T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-15', '15.01.2026', 1768471207])(
    'with the time %j has none',
    (sendTime) => {
      expect(read({ ...ofPhone, sendTime })?.occurredAt).toBeNull();
    },
  );

  it('without an id is named by the digest of its octets', () => {
    const [one, again, other] = [
      { ...ofPhone, text: 'a' },
      { ...ofPhone, text: 'a' },
      { ...ofPhone, text: 'b' },
    ].map(read);
    expect(one?.name).toBe(again?.name);
    expect(one?.name).not.toBe(other?.name);
  });

  it.each(['', '0123', '+0123456789', '+1', '+1202555012x', '+12025550123\n', 'tel:+12025550123'])(
    'has no phone for %j',
    (senderPhoneNumber) => {
      expect(read({ ...base, senderPhoneNumber, eventType: 'READ', eventId: 'E' })?.phone).toBeNull();
    },
  );

  it.each([
    ['nothing', ''],
    ['not JSON', 'DELIVERED'],
    ['a list', '[{}]'],
    ['a number', '7'],
    ['no agent', '{"eventType":"READ"}'],
    ['an agent that is not a string', '{"agentId":7}'],
    ['an empty agent', '{"agentId":""}'],
    ['an agent of white space', '{"agentId":" "}'],
    ['an agent that cannot be stored', '{"agentId":"a\\u0000"}'],
    ['an overlong agent', JSON.stringify({ agentId: 'a'.repeat(5_000) })],
    ['an inherited agent', '{"__proto__":{"agentId":"a"}}'],
  ])('is null for %s', (_, text) => {
    expect(readText(text)).toBeNull();
  });

  it('is null when it is not UTF-8', () => {
    expect(parsePlatformEvent(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBeNull();
  });
});

/** Members of an almost valid event, with values of any kind. */
const names = ['agentId', 'senderPhoneNumber', 'phoneNumber', 'eventType', 'eventId', 'messageId', 'sendTime'];
const more = ['suggestionResponse', 'text', 'location', 'newLaunchState', '__proto__', 'constructor'];
const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    AGENT,
    PHONE,
    OURS,
    'DELIVERED',
    'STOP',
    '',
    null,
    -1,
    1e308,
    '\u0000',
    '\ud800',
    'x'.repeat(9_000),
  ),
);

describe('any pushed octets', () => {
  it('are parsed without a throw, into a bounded event', () => {
    const member = fc.tuple(fc.constantFrom(...names, ...more), hostile);
    fc.assert(
      fc.property(fc.array(member, { maxLength: 12 }), (members) => {
        const text = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',');
        const event = readText(`{${text}}`);
        if (event === null) return;
        expect(event.name.length).toBeLessThan(1_024);
        expect(event.phone === null || /^\+\d{7,15}$/.test(event.phone)).toBe(true);
        expect(event.kind === 'tap' || event.postback === null).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('may be invalid in any way', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => void parsePlatformEvent(Buffer.from(octets))));
    expect(() => readText('['.repeat(100_000))).not.toThrow();
    expect(() => readText(`{"agentId":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).not.toThrow();
  });
});
