import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

let made = 0;
/** A unique number for each test. */
const newNumber = (): string => `+1415555${String((made += 1)).padStart(4, '0')}`;

describe('an inbound number', () => {
  it('is a number and the countries that it serves', async () => {
    const draft = { number: newNumber(), countries: ['US', 'CA'] };
    const answer = await admin.post('inbound-numbers', draft);
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^num_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({ ...draft, brandId: null });
    expect((await admin.get(`inbound-numbers/${String(id)}`)).json).toEqual(answer.json);
    expect((await admin.notes(id))[0]).toMatchObject({ resource: 'inbound-numbers', after: answer.json });
  });

  it.each(['60606', '123', '12345678', '+447400123456', '+999999999999999'])('may be %s', async (number) => {
    expect((await admin.post('inbound-numbers', { number, countries: ['CH'] })).json['number']).toBe(number);
  });

  it('may be reserved for a brand, change, and be given back', async () => {
    const { brandId } = harness.demo;
    const answer = await admin.post('inbound-numbers', { number: newNumber(), countries: ['*'], brandId });
    expect(answer.json).toMatchObject({ countries: ['*'], brandId });
    const changes = { number: newNumber(), countries: ['GB'], brandId: null };
    const changed = await admin.patch(`inbound-numbers/${idOf(answer)}`, changes);
    expect([changed.status, changed.json]).toEqual([200, { ...answer.json, ...changes }]);
    expect((await admin.patch(`inbound-numbers/${idOf(answer)}`, {})).json).toEqual(changed.json);
    expect(await admin.notes(idOf(answer))).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['number', undefined],
    ['number', ''],
    ['number', '12'],
    ['number', '123456789'],
    ['number', '14155550100'],
    ['number', '+123456'],
    ['number', '+0415555010'],
    ['number', '+1415555010012345'],
    ['number', '+1 415 555 0100'],
    ['number', 'ACME'],
    ['number', 60606],
    ['number', null],
    ['countries', undefined],
    ['countries', []],
    ['countries', ['UK']],
    ['countries', ['us']],
    ['countries', ['US', 'US']],
    ['countries', 'US'],
    ['countries', null],
    ['brandId', 5],
    ['brandId', ''],
    ['brandId', 'brd_00000000000000000000000000'],
    ['accountId', 'x'],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('inbound-numbers?limit=100')).text;
    const answer = await admin.post('inbound-numbers', { number: newNumber(), countries: ['US'], [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('inbound-numbers?limit=100')).text).toBe(before);
  });

  it('is there once', async () => {
    const taken = newNumber();
    const other = idOf(await admin.post('inbound-numbers', { number: newNumber(), countries: ['US'] }));
    await admin.post('inbound-numbers', { number: taken, countries: ['US'] });
    for (const refused of [
      await admin.post('inbound-numbers', { number: taken, countries: ['GB'] }),
      await admin.patch(`inbound-numbers/${other}`, { number: taken }),
    ]) {
      expect([refused.status, refused.code, refused.field]).toEqual([409, 'CONFLICT', 'number']);
    }
  });

  it('is used for new sessions of its countries within seconds, until it is deleted; sessions keep theirs', async () => {
    const create = (): Promise<Answer> => harness.create({ phone: '+6421234567' });
    const number = newNumber();
    const names = (answer: Answer): boolean => String(answer.json['fallbackUri']).startsWith(`sms:${number}?`);
    const id = idOf(await admin.post('inbound-numbers', { number, countries: ['NZ'] }));
    await until('the number is used', 10_000, async () => names(await create()));
    const created = await create();
    expect((await admin.delete(`inbound-numbers/${id}`)).status).toBe(204);
    expect((await admin.get(`inbound-numbers/${id}`)).code).toBe('NOT_FOUND');
    await until('another number is used', 10_000, async () => !names(await create()));
    expect(names(await harness.call(`/v1/verify/${String(created.json['id'])}`))).toBe(true);
  });
});
