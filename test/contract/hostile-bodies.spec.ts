import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

/** Errors that a body can cause, with their statuses. */
const DOCUMENTED: Readonly<Record<string, number>> = {
  MALFORMED_REQUEST: 400,
  FORBIDDEN: 403,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_PHONE: 422,
  VALIDATION_ERROR: 422,
  INVALID_BRAND: 422,
  INVALID_WEBHOOK_URL: 422,
};

/** The answer has the documented shape, whatever was sent. */
function expectDocumented(answer: Answer): void {
  if (answer.status === 200) {
    expect(answer.json).toMatchObject({ status: 'pending' });
    return;
  }
  expect(DOCUMENTED[answer.code ?? ''], answer.text).toBe(answer.status);
  const { code, message, docUrl, field, ...rest } = answer.json['error'] as Record<string, unknown>;
  expect(rest).toEqual({});
  expect(docUrl).toBe(`${harness.baseUrl}/docs/errors/${String(code)}`);
  expect([typeof message, ['string', 'undefined'].includes(typeof field)]).toEqual(['string', true]);
}

const json = (changes: Readonly<Record<string, unknown>>): string => JSON.stringify(harness.createBody(changes));
/** The valid body with one field replaced by raw text. */
const raw = (field: string, text: string): string => json({ [field]: '@@' }).replace('"@@"', text);

const CORPUS: readonly (readonly [what: string, body: () => string | Buffer])[] = [
  ['nothing but spaces', () => '   '],
  ['an open brace', () => '{'],
  ['an array of bodies', () => `[${json({})}]`],
  ['a string', () => '"{}"'],
  ['a number', () => '0'],
  ['null', () => 'null'],
  ['two bodies', () => json({}) + json({})],
  ['a body and a zero octet', () => `${json({})}\0`],
  ['a byte order mark', () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(json({}))])],
  ['UTF-16', () => Buffer.from(json({}), 'utf16le')],
  [
    'a broken character',
    () => Buffer.concat([Buffer.from('{"phone":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
  ],
  [
    'an overlong character',
    () => Buffer.concat([Buffer.from('{"phone":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
  ],
  [
    'a surrogate in octets',
    () => Buffer.concat([Buffer.from('{"phone":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ],
  ['a comment', () => json({}).replace('{', '{/* hi */')],
  ['a trailing comma', () => json({}).replace('}', ',}')],
  ['single quotes', () => json({}).replaceAll('"', "'")],
  ['NaN', () => raw('ttl', 'NaN')],
  ['Infinity', () => raw('ttl', 'Infinity')],
  ['a hexadecimal ttl', () => raw('ttl', '0x5a')],
  ['an enormous ttl', () => raw('ttl', '9'.repeat(400))],
  ['a tiny ttl', () => raw('ttl', '1e-400')],
  ['a negative zero', () => raw('ttl', '-0')],
  ['the same field twice', () => json({}).replace('{', `{"phone":"${PHONE}",`)],
  ['the same field twice, once escaped', () => json({}).replace('{', `{"\\u0070hone":"${PHONE}",`)],
  ['the same metadata key twice', () => raw('metadata', '{"a":"1","a":"2"}')],
  ['__proto__ as a field', () => json({}).replace('{', '{"__proto__":{"ttl":60},')],
  ['constructor as a field', () => json({}).replace('{', '{"constructor":{"prototype":{}},')],
  ['metadata of metadata', () => raw('metadata', '{"a":{"b":"c"}}')],
  ['an empty key', () => raw('metadata', '{"":"x"}')],
  ['a key of 65 characters', () => raw('metadata', `{"${'k'.repeat(65)}":"x"}`)],
  ['a thousand keys', () => raw('metadata', `{${Array.from({ length: 1000 }, (_, at) => `"${at}":""`).join()}}`)],
  ['ten thousand arrays', () => raw('metadata', '['.repeat(10_000) + ']'.repeat(10_000))],
  ['ten thousand objects', () => raw('extra', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000))],
  ['fields of every type at once', () => '{"phone":[],"accountId":{},"brandId":true,"ttl":null}'],
  ['a phone with a zero character', () => raw('phone', '"+1415555\\u00002671"')],
  ['a phone in full-width digits', () => raw('phone', '"+１４１５５５５２６７１"')],
  ['a phone in Arabic digits', () => raw('phone', '"+٤١٥٥٥٥٢٦٧١١"')],
  ['a phone with a right-to-left mark', () => raw('phone', `"\u200f${PHONE}"`)],
  ['a phone of a million digits', () => raw('phone', `"+${'1'.repeat(100_000)}"`)],
  ['a challenge with a newline', () => raw('clientChallenge', `"${'a'.repeat(64)}\\n"`)],
  ['a brand that is an injection', () => json({ brandId: "brd_' OR 1=1 --" })],
  ['a webhook URL with a newline', () => raw('webhookUrl', '"https://example.com\\r\\nX: y"')],
  ['a webhook URL of the metadata service', () => json({ webhookUrl: 'https://169.254.169.254/latest' })],
  ['a webhook URL that is a script', () => json({ webhookUrl: 'javascript:fetch(1)' })],
  ['a body of 128 KiB and one octet', () => `{"a":"${'x'.repeat(128 * 1024 - 7)}"}`],
];

describe('a hostile body', () => {
  it.each(CORPUS)('(%s) is refused in the documented shape, and stores nothing', async (_what, body) => {
    const before = await harness.countSessions();
    const answer = await harness.create({}, { body: body() });
    expect(answer.status).not.toBe(200);
    expectDocumented(answer);
    expect(await harness.countSessions()).toBe(before);
  });

  it('is not unpacked', async () => {
    const body = gzipSync(json({}));
    const answer = await harness.create({}, { body, headers: { 'content-encoding': 'gzip' } });
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'x',
  ])('of type %s is not read', async (type) => {
    const answer = await harness.create({}, { headers: { 'content-type': type } });
    expect([answer.status, answer.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('that is too large is 413 whatever its type', async () => {
    for (const type of ['application/json', 'text/plain']) {
      const answer = await harness.create({}, { body: 'x'.repeat(200_000), headers: { 'content-type': type } });
      expect([answer.status, answer.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    }
  });

  it('that is missing is 400', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await harness.call('/v1/verify', { method: 'POST', headers });
      expect([answer.status, answer.code]).toEqual([400, 'MALFORMED_REQUEST']);
    }
  });
});

describe('any body', () => {
  const fields = [
    'phone',
    'accountId',
    'brandId',
    'clientChallenge',
    'webhookUrl',
    'ttl',
    'channel',
    'allowSmsOtp',
    'metadata',
    'x',
  ];

  it('of random JSON is answered in the documented shape, and stores nothing when it is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        const before = await harness.countSessions();
        const answer = await harness.create({}, { body: JSON.stringify(value) });
        expectDocumented(answer);
        expect(await harness.countSessions()).toBe(before);
      }),
      { numRuns: 100 },
    );
  });

  it('that is nearly right is answered in the documented shape, and stores one session or none', async () => {
    const change = fc.record({ field: fc.constantFrom(...fields), value: fc.jsonValue({ maxDepth: 2 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 3 }), async (changes) => {
        const before = await harness.countSessions();
        const answer = await harness.create(Object.fromEntries(changes.map(({ field, value }) => [field, value])));
        expectDocumented(answer);
        expect(await harness.countSessions()).toBe(before + (answer.status === 200 ? 1 : 0));
      }),
      { numRuns: 200 },
    );
  });

  it('with an octet changed is answered in the documented shape', async () => {
    const body = Buffer.from(json({ metadata: { a: 'b' }, ttl: 60 }));
    const place = fc.record({ at: fc.nat(body.length - 1), octet: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), async (places) => {
        const changed = Buffer.from(body);
        for (const { at, octet } of places) changed[at] = octet;
        expectDocumented(await harness.create({}, { body: changed }));
      }),
      { numRuns: 200 },
    );
  });
});
