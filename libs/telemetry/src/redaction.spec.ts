import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REDACTED, redactText, redactValue } from './redaction.js';

const TOKEN = '0123456789ABCDEF';

describe('texts', () => {
  it.each([
    [`MO AUTH-ACME-${TOKEN}\nSend it`, 'MO AUTH-[redacted]\nSend it'],
    [`auth – acme\u200b‑ ${TOKEN.toLowerCase()}`, 'AUTH-[redacted]'],
    ['AUTH-ACME-ABCDEFGHJKMNPQRS', 'AUTH-[redacted]'],
    ['AUTH-ACME-01AB', 'AUTH-[redacted]'],
    [`token ${TOKEN} alone`, 'token [redacted] alone'],
    ['key csk_live_ab12CD34ef56', 'key csk_live_[redacted]'],
    ['signed with whsec_aGVsbG8+/w==', 'signed with whsec_[redacted]'],
    ['ticket rtk_abc-DEF', 'ticket rtk_[redacted]'],
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['postgres://app:hun/ter2@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['open sms:+14155552671?body=AUTH', 'open sms:[redacted]'],
    [`entropy ${'0f'.repeat(32)}.`, 'entropy [redacted].'],
    [`${Buffer.alloc(32, 9).toString('base64')} is a key`, '[redacted] is a key'],
    ['424242 is your Acme code.\n@acme.example #424242', '[redacted] is your Acme code.\n@acme.example #[redacted]'],
    ['from +14155552671', 'from +141******71'],
  ])('%s', (text, redacted) => expect(redactText(text)).toBe(redacted));

  it.each([
    'auth-token-expired',
    'countersign/auth-entropy/v1',
    'prefix csk_live_ab12',
    'sess_01KAJ0A1B2C3D4E5F6G7H8J9K0',
    'req_0123456789000001',
    'http://127.0.0.1:9464/metrics',
    'listening on 127.0.0.1:8443',
  ])('"%s" is unchanged', (text) => expect(redactText(text)).toBe(text));

  it('are cut at 4,000 characters', () => expect(redactText('x'.repeat(5000))).toBe(`${'x'.repeat(4000)}…`));
});

describe('values', () => {
  it('secrets are removed by name, phones masked by name, one-time codes distinguished from error codes', () => {
    const logged = {
      phone: '+14155552671',
      source: { ton: 1, npi: 1, value: '14155552671' },
      from: 'pending',
      to: 14155552671,
      code: '042424',
      token: 'anything',
      authEntropy: 'x',
      fallbackUri: 'sms:1',
      bindPassword: 'hunter2',
      'Set-Cookie': ['a=b'],
      short_message: Buffer.from('hi'),
      digest: Buffer.alloc(32),
      err: { code: 'ECONNREFUSED' },
      sqlState: { code: '40001' },
      count: 3,
      at: new Date(0),
    };
    expect(redactValue(logged)).toEqual({
      phone: '+141******71',
      source: { ton: 1, npi: 1, value: '141******71' },
      from: 'pending',
      to: '141******71',
      code: REDACTED,
      token: REDACTED,
      authEntropy: REDACTED,
      fallbackUri: REDACTED,
      bindPassword: REDACTED,
      'Set-Cookie': REDACTED,
      short_message: REDACTED,
      digest: '[32 octets]',
      err: { code: 'ECONNREFUSED' },
      sqlState: { code: '40001' },
      count: 3,
      at: new Date(0),
    });
  });

  it('class instances are named, requests and replies reduced to a few fields', () => {
    class Session {
      readonly phone = '+14155552671';
    }
    const request = { id: 'req_1', method: 'GET', url: '/v1/verify?phone=%2B14155552671', headers: { cookie: 'x' } };
    expect(redactValue({ session: new Session(), req: request, res: { statusCode: 200, raw: {} } })).toEqual({
      session: '[Session]',
      req: { id: 'req_1', method: 'GET', url: '/v1/verify?phone=%2B*********71' },
      res: { statusCode: 200 },
    });
  });

  it('errors keep their kind, code, table and cause, and lose statement, parameters and rows', () => {
    const cause = Object.assign(new Error('Key (phone)=(+14155552671) exists'), {
      code: '23505',
      table: 'sessions',
      detail: 'Key (phone)=(+14155552671) already exists.',
      parameters: ['+14155552671', TOKEN],
      query: 'INSERT …',
    });
    expect(redactValue(new AggregateError([new Error('a')], 'whsec_abc', { cause }))).toMatchObject({
      type: 'AggregateError',
      message: 'whsec_[redacted]',
      cause: { type: 'Error', message: 'Key (phone)=(+141******71) exists', code: '23505', table: 'sessions' },
      errors: [{ message: 'a' }],
    });
    expect(JSON.stringify(redactValue(cause))).not.toContain('already exists');
  });

  it('circles, depths, breadths and throwing getters are bounded', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const hostile = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(JSON.stringify(redactValue(circle))).toContain('[deep]');
    expect(redactValue(hostile)).toBe('[unreadable]');
    expect(redactValue(Array.from({ length: 1000 }, () => 1))).toHaveLength(50);
  });

  it('any value has a redacted form that JSON can encode', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
        expect(() => JSON.stringify(redactValue(value))).not.toThrow();
      }),
    );
  });
});
