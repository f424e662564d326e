import 'reflect-metadata';
import { useContainer, validateSync } from 'class-validator';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CompiledValidator } from '../http/compiled-validator.js';
import type { JsonObject, JsonValue } from '../http/json-body.js';
import { TargetRules } from '../targets/target.js';
import { CreateVerification } from './create-verification.dto.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';

const target = new IsWebhookTarget(new TargetRules({ allowedCidrs: [], allowHttp: false }));
const validator = CompiledValidator.compile(CreateVerification, [target]);

const VALID: readonly (readonly [string, JsonValue])[] = [
  ['phone', '+14155552671'],
  ['accountId', 'acct_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['brandId', 'brd_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['clientChallenge', 'aB'.repeat(32)],
];

const body = (...changes: [string, JsonValue][]): JsonObject => new Map([...VALID, ...changes]);
const refusalOf = (parsed: JsonObject) => {
  const result = validator.read(parsed);
  return result.ok ? null : result.refusal;
};

describe('the body of POST /v1/verify', () => {
  it('gets the defaults of the specification', () => {
    const result = validator.read(body());
    expect(result).toMatchObject({
      ok: true,
      value: { ttl: 90, channel: 'rcs', allowSmsOtp: true, metadata: new Map() },
    });
    expect(result.ok && result.value.webhookUrl).toBeUndefined();
  });

  it.each(['phone', 'accountId', 'brandId', 'clientChallenge'])('requires %s', (field) => {
    expect(refusalOf(new Map(VALID.filter(([name]) => name !== field)))).toMatchObject({
      code: 'VALIDATION_ERROR',
      field,
    });
  });

  it.each<[string, JsonValue, string]>([
    ['phone', '4155552671', 'INVALID_PHONE'],
    ['phone', '+1 415 555 2671', 'INVALID_PHONE'],
    ['phone', '+15555555555', 'INVALID_PHONE'],
    ['phone', '', 'INVALID_PHONE'],
    ['phone', 14155552671, 'VALIDATION_ERROR'],
    ['phone', null, 'VALIDATION_ERROR'],
    ['accountId', 1, 'VALIDATION_ERROR'],
    ['brandId', null, 'VALIDATION_ERROR'],
    ['clientChallenge', 'a'.repeat(63), 'VALIDATION_ERROR'],
    ['clientChallenge', 'g'.repeat(64), 'VALIDATION_ERROR'],
    ['clientChallenge', `${'a'.repeat(64)}\n`, 'VALIDATION_ERROR'],
    ['webhookUrl', 'http://example.com', 'INVALID_WEBHOOK_URL'],
    ['webhookUrl', 'https://127.1', 'INVALID_WEBHOOK_URL'],
    ['webhookUrl', '', 'INVALID_WEBHOOK_URL'],
    ['webhookUrl', null, 'VALIDATION_ERROR'],
    ['webhookUrl', 5, 'VALIDATION_ERROR'],
    ['ttl', 29, 'VALIDATION_ERROR'],
    ['ttl', 301, 'VALIDATION_ERROR'],
    ['ttl', 90.5, 'VALIDATION_ERROR'],
    ['ttl', '90', 'VALIDATION_ERROR'],
    ['ttl', null, 'VALIDATION_ERROR'],
    ['ttl', Infinity, 'VALIDATION_ERROR'],
    ['channel', 'sms', 'VALIDATION_ERROR'],
    ['channel', ['rcs'], 'VALIDATION_ERROR'],
    ['allowSmsOtp', 'true', 'VALIDATION_ERROR'],
    ['allowSmsOtp', 1, 'VALIDATION_ERROR'],
    ['metadata', [], 'VALIDATION_ERROR'],
    ['metadata', null, 'VALIDATION_ERROR'],
    ['metadata', 'x', 'VALIDATION_ERROR'],
  ])('refuses %s %j with %s', (field, value, code) => {
    expect(refusalOf(body([field, value]))).toMatchObject({ code, field });
  });

  it('is refused with the first illegal key of metadata', () => {
    expect(
      refusalOf(
        body([
          'metadata',
          new Map<string, JsonValue>([
            ['a', 'x'],
            ['orderId', 7],
          ]),
        ]),
      ),
    ).toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'metadata.orderId',
    });
  });

  it('is checked in the order of the specification, unknown fields last', () => {
    const illegal: [string, JsonValue][] = [
      ['phone', '1'],
      ['accountId', 1],
      ['brandId', 1],
      ['clientChallenge', 'x'],
      ['webhookUrl', 'x'],
      ['ttl', 1],
      ['channel', 'x'],
      ['allowSmsOtp', 'x'],
      ['metadata', 'x'],
      ['nothing', 'x'],
    ];
    for (let at = 0; at < illegal.length; at++) {
      expect(refusalOf(body(...illegal.slice(at).reverse()))?.field).toBe(illegal[at]?.[0]);
    }
  });
});

describe('the compiled checks and class-validator', () => {
  beforeAll(() => {
    const others = new Map<unknown, unknown>();
    useContainer({
      get: (target_: unknown) => {
        if (target_ === IsWebhookTarget) return target;
        if (typeof target_ !== 'function') throw new Error('not a class');
        if (!others.has(target_)) others.set(target_, Reflect.construct(target_, []));
        return others.get(target_);
      },
    });
  });

  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      true,
      false,
      0,
      29,
      30,
      90,
      90.5,
      300,
      301,
      '',
      '90',
      'rcs',
      'sms_fallback',
      [],
      {},
    ),
    fc.constantFrom(
      '+14155552671',
      '+1415555267',
      '+447911123456',
      'https://example.com',
      'https://10.0.0.1',
      'a'.repeat(64),
    ),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc
      .dictionary(fc.string({ maxLength: 70 }), fc.oneof(fc.string(), fc.integer()))
      .map((value) => new Map(Object.entries(value))),
  );
  const validOnly = fc.constant(undefined);
  const field = (valid: unknown) =>
    fc.oneof({ weight: 3, arbitrary: validOnly.map(() => valid) }, { weight: 1, arbitrary: odd });
  const bodies = fc.record(
    {
      phone: field('+14155552671'),
      accountId: field('a'),
      brandId: field('b'),
      clientChallenge: field('0'.repeat(64)),
      webhookUrl: field('https://example.com/'),
      ttl: field(90),
      channel: field('rcs'),
      allowSmsOtp: field(false),
      metadata: field(new Map([['a', 'b']])),
    },
    { requiredKeys: [] },
  );

  it('accept and refuse the same bodies', () => {
    let refused = 0;
    fc.assert(
      fc.property(bodies, (fields) => {
        const dto = Object.assign(new CreateVerification(), fields);
        const [first] = validateSync(dto, { stopAtFirstError: true, forbidUnknownValues: false });
        const fault = validator.fault(dto);
        expect(fault?.field?.split('.', 1)[0]).toBe(first?.property);
        expect(fault?.message).toBe(Object.values(first?.constraints ?? {})[0]);
        if (fault !== null) refused += 1;
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(300);
  });
});
