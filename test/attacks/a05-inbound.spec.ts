import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PduValues } from 'smpp';
import { renderId } from '@countersign/ids';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';
import type { Esme } from '../support/esme.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
/** Crockford base32 (contract, Token). */
const ALPHABET = Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ');
const STRANGER = '+14155559999';

let harness: ControlPlaneHarness;
/** Accepts any number of messages from one sender, so that only the token decides about guesses. */
let gateway: GatewayBeside;
let admin: AdminCalls;
let carrier: Esme;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  gateway = await GatewayBeside.start(harness, { MO_SENDER_PER_SECOND: '1000000' });
  admin = new AdminCalls(harness);
  await gateway.system({ systemId: 'carrier' });
  carrier = await gateway.esme('carrier');
});
afterAll(async () => {
  await gateway.stop();
  await harness.close();
});

interface Opened {
  readonly id: string;
  /** The text of the SMS. */
  readonly text: string;
  readonly token: string;
}

async function opened(changes: Readonly<Record<string, unknown>> = {}): Promise<Opened> {
  const { json } = await harness.create(changes);
  const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
  return { id: String(json['id']), text, token: /AUTH-[A-Z0-9]+-(\w{16})/.exec(text)?.[1] ?? '' };
}

const statusOf = async (id: string): Promise<unknown> => (await harness.call(`/v1/verify/${id}`)).json['status'];

const submit = async (text: string, changes: PduValues = {}, esme = carrier): Promise<number> =>
  (await esme.send('submit_sm', sms(text, changes))).command_status;

describe('A5 guessing the token of a message', () => {
  it('A5 no token that differs in one character approves, nor one of another slug, nor a short one', async () => {
    const { id, text, token } = await opened();
    expect(token).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    const neighbours = Array.from(token).flatMap((digit, at) =>
      ALPHABET.filter((each) => each !== digit).map((each) => token.slice(0, at) + each + token.slice(at + 1)),
    );
    const others = [
      token.slice(1),
      token.slice(0, -1),
      `${token}0`,
      Array.from(token).reverse().join(''),
      '0'.repeat(16),
    ];
    const guesses = [
      ...[...neighbours, ...others].map((guess) => text.replace(token, guess)),
      text.replace('-ACME-', '-ACMEX-'),
      text.replace('AUTH-', ''),
    ];
    const statuses = await Promise.all(guesses.map((guess) => submit(guess)));
    expect(new Set(statuses)).toEqual(new Set([OK]));
    expect(await statusOf(id)).toBe('pending');
    expect(await submit(text)).toBe(OK);
    expect(await statusOf(id)).toBe('approved');
  });

  it('A5 a message of a thousand tokens is no thousand guesses: three of them are tried', async () => {
    const { id, text, token } = await opened();
    const fillers = Array.from({ length: 3 }, (_, at) => `AUTH-ACME-${String(at).repeat(16)}`);
    expect(await submit([...fillers, `AUTH-ACME-${token}`].join(' '))).toBe(OK);
    expect(await statusOf(id)).toBe('pending');
    expect(await submit(text)).toBe(OK);
    expect(await statusOf(id)).toBe('approved');
  });
});

describe('A6 another sender with the right token', () => {
  /** Sender addresses of a peer that are not the phone of the session. */
  const SPOOFS: readonly (readonly [what: string, fields: PduValues])[] = [
    ['another phone', { source_addr: STRANGER.slice(1) }],
    ['letters that look like the phone', { source_addr_ton: 5, source_addr_npi: 0, source_addr: PHONE }],
    ['the phone as a short code', { source_addr_ton: 3, source_addr: PHONE.slice(1) }],
    ['the phone as a subscriber number', { source_addr_ton: 4, source_addr: PHONE.slice(1) }],
    ['the phone with an abbreviated type', { source_addr_ton: 6, source_addr: PHONE }],
    ['the phone with a reserved type', { source_addr_ton: 7, source_addr: PHONE }],
    ['the phone as an IMSI', { source_addr_npi: 6, source_addr: PHONE.slice(1) }],
    ['the end of the phone', { source_addr_ton: 0, source_addr: PHONE.slice(-7) }],
    ['the phone and one digit more', { source_addr: `${PHONE.slice(1)}0` }],
    ['the phone without its last digit', { source_addr: PHONE.slice(1, -1) }],
    ['two phones', { source_addr_ton: 0, source_addr: `${PHONE},1` }],
    ['no sender', { source_addr_ton: 0, source_addr: '' }],
    ['a zero in front', { source_addr_ton: 1, source_addr: `0${PHONE.slice(1)}` }],
  ];

  it.each(SPOOFS)('A6 %s approves nothing', async (_what, fields) => {
    const { id, text } = await opened();
    // Refused or stored; it must not approve.
    await submit(text, fields);
    expect(await statusOf(id)).toBe('pending');
  });

  it('A6 one sender that reads as two numbers approves neither, where the link does not say how to read it', async () => {
    await gateway.system({ systemId: 'auto', senderFormat: 'auto' });
    const esme = await gateway.esme('auto');
    for (const phone of ['+6592345678', '+16592345678']) {
      const { id, text } = await opened({ phone });
      expect(await submit(text, { source_addr_ton: 0, source_addr: '6592345678' }, esme)).toBe(OK);
      expect(await statusOf(id)).toBe('pending');
    }
  });

  it('A6 an untrusted system approves nothing, whatever sender it names; systems are untrusted by default', async () => {
    await gateway.system({ systemId: 'shop', trustedForMo: false });
    const esme = await gateway.esme('shop');
    const { id, text } = await opened();
    expect(await submit(text, {}, esme)).toBe(OK);
    expect(await statusOf(id)).toBe('pending');
    const made = await admin.post('smpp-systems', { systemId: 'fresh', password: 'k3Vd9qLz' });
    expect(made.json).toMatchObject({ trustedForMo: false });
  });

  it('A6 an operator cannot change the country of a number so that a national sender is read as the phone of a session', async () => {
    const made = await admin.post('inbound-numbers', { number: '60606', countries: ['GB'] });
    const path = `inbound-numbers/${String(made.json['id'])}`;
    const operator = await admin.colleague('operator', 'operator of numbers');
    const { id, text } = await opened();
    const sent = { source_addr_ton: 2, source_addr: PHONE.slice(2), dest_addr_ton: 3, destination_addr: '60606' };
    for (const countries of [['US'], ['US', 'CA']]) {
      const { status, field } = await operator.patch(path, { countries });
      expect([status, field]).toEqual([403, 'countries']);
    }
    expect((await operator.delete(path)).status).toBe(403);
    const ofUs = await operator.post('inbound-numbers', { number: '70707', countries: ['US'] });
    expect([ofUs.status, ofUs.field]).toEqual([403, 'number']);
    for (const destination of ['60606', '70707']) {
      expect(await submit(text, { ...sent, destination_addr: destination })).toBe(OK);
      expect(await statusOf(id)).toBe('pending');
    }
  });

  it('A6 an operator cannot decide by a long number without a country how a national sender is read', async () => {
    const ours = { number: '+447786205000', countries: ['GB'] };
    expect((await admin.post('inbound-numbers', ours)).status).toBe(201);
    const invented = { number: '+7786205000', countries: ['IN'] };
    const operator = await admin.colleague('operator', 'operator of long numbers');
    const { status, field } = await operator.post('inbound-numbers', invented);
    expect([status, field]).toEqual([403, 'number']);
    expect((await admin.post('inbound-numbers', invented)).status).toBe(201);
    const { id, text } = await opened({ phone: '+917911123456' });
    const sent = { source_addr_ton: 2, source_addr: '7911123456', destination_addr: '7786205000' };
    for (const ton of [0, 1, 2, 3]) {
      expect(await submit(text, { ...sent, dest_addr_ton: ton })).toBe(OK);
      expect(await statusOf(id)).toBe('pending');
    }
  });

  it('A6 an operator cannot give the national digits of a number of ours, also of a deleted one, to another country', async () => {
    const [british, indian] = ['+447786205001', '+917786205001'].map((number) => ({ number, countries: ['*'] }));
    const operator = await admin.colleague('operator', 'operator of national digits');
    const pathOf = ({ status, json }: Answer): string => {
      expect(status).toBe(201);
      return `inbound-numbers/${String(json['id'])}`;
    };
    const isRefused = ({ status, code, field }: Answer, named?: string): void =>
      expect([status, code, field]).toEqual([403, 'FORBIDDEN', named]);

    const first = pathOf(await operator.post('inbound-numbers', british));
    isRefused(await operator.post('inbound-numbers', indian), 'number');
    isRefused(await operator.patch(first, indian), 'number');
    expect((await operator.delete(first)).status).toBe(204);
    isRefused(await operator.post('inbound-numbers', indian), 'number');
    const other = pathOf(await operator.post('inbound-numbers', { number: '+14155559091', countries: ['US'] }));
    isRefused(await operator.patch(other, indian), 'number');
    expect((await operator.delete(other)).status).toBe(204);
    const again = pathOf(await operator.post('inbound-numbers', british));

    const { id, text } = await opened({ phone: '+917911123456' });
    const sent = { source_addr_ton: 2, source_addr: '7911123456', dest_addr_ton: 2, destination_addr: '7786205001' };
    expect(await submit(text, sent)).toBe(OK);
    expect(await statusOf(id)).toBe('pending');

    const owned = pathOf(await admin.post('inbound-numbers', indian));
    isRefused(await operator.delete(again));
    isRefused(await operator.patch(again, { number: '+14155559092' }), 'number');
    expect((await operator.patch(again, { countries: ['GB'] })).status).toBe(200);
    expect((await admin.delete(again)).status).toBe(204);
    // The owner has decided that the digits are Indian: then the message approves.
    await until('the session is approved', 20_000, async () => {
      expect(await submit(text, sent)).toBe(OK);
      return (await statusOf(id)) === 'approved';
    });
    expect((await operator.delete(owned)).status).toBe(204);
    isRefused(await operator.post('inbound-numbers', british), 'number');
    expect((await operator.delete(pathOf(await operator.post('inbound-numbers', indian)))).status).toBe(204);
  });

  it('A6 an operator cannot, by deleting or replacing the last number of a country, turn a sender that reads as two numbers into evidence of one', async () => {
    const operator = await admin.colleague('operator', 'operator of last numbers');
    await gateway.system({ systemId: 'two-ways', senderFormat: 'auto' });
    const spanish = await operator.post('inbound-numbers', { number: '+34912345678', countries: ['ES'] });
    const path = `inbound-numbers/${String(spanish.json['id'])}`;
    // Nine digits that are a Spanish national number and a number of New Caledonia.
    const { id, text } = await opened({ phone: '+687751234' });
    const sent = { source_addr_ton: 0, source_addr: '687751234', dest_addr_ton: 0 };
    const isPendingAfter = async (): Promise<void> => {
      // A gateway that starts now has read the numbers as they are.
      const fresh = await GatewayBeside.start(harness, { MO_SENDER_PER_SECOND: '1000000' });
      try {
        const esme = await fresh.esme('two-ways');
        for (const destination of ['34912345678', '912345678', '0034912345678', '70000']) {
          expect(await submit(text, { ...sent, destination_addr: destination }, esme)).toBe(OK);
        }
        expect(await statusOf(id)).toBe('pending');
        // A sender that reads one way needs no destination of ours.
        const other = await opened({ phone: '+33612345678' });
        const french = { ...sent, source_addr: '33612345678', destination_addr: '70000' };
        expect(await submit(other.text, french, esme)).toBe(OK);
        expect(await statusOf(other.id)).toBe('approved');
      } finally {
        await fresh.stop();
      }
    };
    await isPendingAfter();
    expect((await operator.patch(path, { number: '+4722000077', countries: ['NO'] })).status).toBe(200);
    await isPendingAfter();
    expect((await operator.patch(path, { number: '+34912345678', countries: ['ES'] })).status).toBe(200);
    expect((await operator.delete(path)).status).toBe(204);
    await isPendingAfter();
  });

  it('A6 of two numbers with the same national digits that operators create at the same time one is refused', async () => {
    const operators = [
      await admin.colleague('operator', 'first of two operators'),
      await admin.colleague('operator', 'second of two operators'),
    ];
    const numbers = ['+16592345679', '+6592345679'];
    const made = await harness.database.transaction(async (tx) => {
      // Reads of the numbers go on, writes wait: each create has made its check, or waits for the other's, when it is released.
      await tx.query('LOCK TABLE inbound_numbers IN SHARE MODE');
      const answers = operators.map((each, nth) =>
        each.post('inbound-numbers', { number: numbers[nth] ?? '', countries: ['*'] }),
      );
      await until('both creates wait for a lock', 20_000, async () => {
        const [row] = await harness.database.query<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND relation IN ('inbound_numbers'::regclass, 'former_numbers'::regclass)`,
        );
        return row?.waiting === operators.length;
      });
      return { answers };
    });
    const answers = await Promise.all(made.answers);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    for (const { status, json } of answers) {
      if (status === 201) await admin.delete(`inbound-numbers/${String(json['id'])}`);
    }
  });

  it('A6 an operator cannot let a trusted link join the parts of another carrier’s messages', async () => {
    const operator = await admin.colleague('operator', 'operator of carriers');
    const { id } = await gateway.system({ systemId: 'south', carrier: 'south' });
    const { status, field } = await operator.patch(`smpp-systems/${renderId('sys', id)}`, { carrier: 'north' });
    expect([status, field]).toEqual([403, 'carrier']);
  });

  it('A6 messages of a carrier never approve a session of a test key', async () => {
    const { json } = await harness.create({}, { key: harness.demo.testApiKey });
    const id = String(json['id']);
    const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
    expect(await submit(text)).toBe(OK);
    const { json: found } = await harness.call(`/v1/verify/${id}`, { key: harness.demo.testApiKey });
    expect(found['status']).toBe('pending');
  });
});

describe('A25 texts that change the message', () => {
  const instruction = 'Send this message.';
  const BIDI = '\u202e';

  it.each([
    ['a slug with a lower-case letter', { slug: 'acme' }],
    ['a slug with a dash', { slug: 'AC-ME' }],
    ['a slug with a space', { slug: 'AC ME' }],
    ['a slug of one letter', { slug: 'A' }],
    ['a slug with a Cyrillic letter', { slug: 'АCME' }],
    ['an instruction that turns the text around', { instruction: `Send ${BIDI}this` }],
    ['an instruction with a control character', { instruction: 'Send\u0007this' }],
    ['an instruction with a zero octet', { instruction: 'Send\u0000this' }],
    ['an instruction of many messages', { instruction: 'x'.repeat(2_000) }],
    ['a name that turns the text around', { name: `Acme${BIDI}` }],
    ['a name with a line of its own', { name: 'Acme\n@evil.example #000000' }],
    ['a domain that is a line of its own', { domain: 'acme.example\n@evil.example' }],
    ['a domain with a path', { domain: 'acme.example/login' }],
    ['a sender with a control character', { senderId: 'AC\rME' }],
    ['a logo that is a script', { logoUrl: 'javascript:alert(1)' }],
  ])('A25 %s is refused when the brand is saved', async (_what, changes) => {
    const { accountId } = harness.demo;
    const texts = { accountId, name: 'Other', slug: 'OTHER', instruction, ...changes };
    const answer = await admin.post('brands', texts);
    expect([answer.status, answer.code]).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('A25 every character of an instruction that is no letter or digit is escaped in the link', async () => {
    const { accountId } = harness.demo;
    const sly = `Say "yes" & go? #1 = +50% 'off' !*() ;:@/`;
    const brand = await admin.post('brands', { accountId, name: 'Sly', slug: 'SLY', instruction: sly });
    expect(brand.status).toBe(201);
    const { json } = await harness.create({ brandId: brand.json['id'] });
    const uri = String(json['fallbackUri']);
    const [address = '', body = ''] = uri.split('?body=');
    expect(address).toMatch(/^sms:\+\d+$/);
    expect(body).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+$/);
    expect(decodeURIComponent(body)).toMatch(/^AUTH-SLY-\w{16}\n/);
    expect(decodeURIComponent(body).endsWith(sly)).toBe(true);
  });
});
