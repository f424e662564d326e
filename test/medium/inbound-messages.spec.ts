import { parseId } from '@countersign/ids';
import { encodeUcs2 } from '@countersign/text';
import type { PduValues } from 'smpp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOwner } from '../support/database.js';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, INBOUND_NUMBER, partOfSms, sms } from '../support/gateway-harness.js';
import { PHONE, STRANGER } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const OK = 0;
/** ESME_RINVBNDSTS (SMPP 3.4 section 5.1.3). */
const WRONG_BIND_STATE = 0x04;

let gateway: GatewayHarness;
let esme: Esme;

beforeAll(async () => {
  gateway = await GatewayHarness.open();
  await gateway.system({ systemId: 'north' });
  await gateway.system({ systemId: 'doubtful', carrier: 'doubt', trustedForMo: false });
  esme = await gateway.esme('north');
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await asOwner(gateway.harness, 'TRUNCATE messages, sessions, events, concatenations, concatenation_parts');
});

const fates = async (): Promise<string[]> => (await gateway.messages()).map(({ fate }) => fate);

describe('an MO that matches', () => {
  it.each(['submit_sm', 'data_sm', 'deliver_sm'] as const)('approves its session when sent as %s', async (command) => {
    const session = await gateway.create();
    const text = Buffer.from(gateway.textOf(session));
    const message =
      command === 'data_sm' ? { ...sms('', { message_payload: text }), short_message: undefined } : sms(text);
    const answer = await esme.send(command, message as PduValues);
    expect(answer.command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    expect(await gateway.messages()).toMatchObject([
      {
        fate: 'matched',
        text: gateway.textOf(session),
        sessionId: session.id,
        source: PHONE.slice(1),
        destination: INBOUND_NUMBER.slice(1),
        carrier: 'north',
      },
    ]);
  });

  it.each(['bind_transmitter', 'bind_transceiver'] as const)('approves over %s', async (bind) => {
    const session = await gateway.create();
    const peer = await gateway.esme('north', { bind });
    expect((await peer.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    peer.destroy();
  });

  it('is refused over a receiver bind', async () => {
    const peer = await gateway.esme('north', { bind: 'bind_receiver' });
    expect((await peer.send('submit_sm', sms('hello'))).command_status).toBe(WRONG_BIND_STATE);
    expect((await peer.enquireLink()).command_status).toBe(OK);
    expect(await fates()).toEqual([]);
    peer.destroy();
  });

  it('is answered with its message id, a deliver_sm without one', async () => {
    const submitted = await esme.send('submit_sm', sms('hello'));
    const [stored] = await gateway.messages();
    expect(submitted.message_id).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(parseId('msg', submitted.message_id ?? '')).toBe(stored?.id);
    expect((await esme.send('deliver_sm', sms('hello'))).message_id).toBe('');
  });

  it('can be in UCS-2 and lower case, with dashes and quotes of a phone', async () => {
    const session = await gateway.create();
    const text = `\uFEFF“Hi!” auth\u2013acme \u2014 ${gateway.harness.tokenOf(session.id).token.toLowerCase()}\u200B”`;
    const answer = await esme.send('deliver_sm', sms(encodeUcs2(text), { data_coding: 8 }));
    expect(answer.command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('can be in message_payload of any length', async () => {
    const session = await gateway.create();
    const text = Buffer.from(`${'a long story '.repeat(100)} ${gateway.textOf(session)}`);
    const { short_message: _, ...fields } = sms('');
    expect((await esme.send('submit_sm', { ...fields, message_payload: text })).command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it.each([
    ['international, as digits', 1, '14155552671'],
    ['international, with a plus', 1, '+14155552671'],
    ['national of the receiving number', 2, '4155552671'],
    ['of unknown type', 0, '4155552671'],
  ])('matches its sender %s', async (_, ton, address) => {
    const session = await gateway.create();
    await esme.send('submit_sm', sms(gateway.textOf(session), { source_addr_ton: ton, source_addr: address }));
    expect(await fates()).toEqual(['matched']);
    expect(await gateway.statusOf(session)).toBe('approved');
  });
});

describe('the fate of an MO', () => {
  it('is duplicate when the session was approved by an earlier one', async () => {
    const session = await gateway.create();
    const message = sms(gateway.textOf(session));
    for (let times = 0; times < 2; times += 1) expect((await esme.send('submit_sm', message)).command_status).toBe(OK);
    expect(await fates()).toEqual(['matched', 'duplicate']);
  });

  it('is matched once, and duplicate for every concurrent repeat', async () => {
    const session = await gateway.create();
    const message = sms(gateway.textOf(session));
    await Promise.all(Array.from({ length: 10 }, () => esme.send('submit_sm', message)));
    expect((await fates()).sort()).toEqual([...Array.from({ length: 9 }, () => 'duplicate'), 'matched']);
    const events = await gateway.harness.database.query('SELECT id FROM events');
    expect(events).toHaveLength(1);
  });

  it.each([
    ['another number', { source_addr: STRANGER.slice(1) }],
    ['letters', { source_addr_ton: 5, source_addr_npi: 0, source_addr: 'ACME' }],
    ['the end of the number', { source_addr_ton: 3, source_addr: '2671' }],
  ])('is wrong_sender from %s, and the session stays pending', async (_, sender) => {
    const session = await gateway.create();
    expect((await esme.send('submit_sm', sms(gateway.textOf(session), sender))).command_status).toBe(OK);
    expect(await fates()).toEqual(['wrong_sender']);
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it('is unknown_token for an unused token, and for a token under another slug', async () => {
    const session = await gateway.create();
    await esme.send('submit_sm', sms('AUTH-ACME-0123456789ABCDEF'));
    await esme.send('submit_sm', sms(gateway.textOf(session).replace('ACME', 'OTHER')));
    expect(await fates()).toEqual(['unknown_token', 'unknown_token']);
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it('is expired when the session has expired', async () => {
    const session = await gateway.create();
    await gateway.harness.database.query(`UPDATE sessions SET expires_at = clock_timestamp() - interval '1 second'`);
    expect((await esme.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
    expect(await fates()).toEqual(['expired']);
  });

  it('is ended when the session was cancelled', async () => {
    const session = await gateway.create();
    await gateway.harness.sessions.cancel(liveTenant(session.accountId), session.id);
    expect((await esme.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
    expect(await fates()).toEqual(['ended']);
    expect(await gateway.statusOf(session)).toBe('cancelled');
  });

  it('is no_token for any other text, also an empty one', async () => {
    expect((await esme.send('submit_sm', sms('hello'))).command_status).toBe(OK);
    expect((await esme.send('submit_sm', sms(''))).command_status).toBe(OK);
    expect(await gateway.messages()).toMatchObject([
      { fate: 'no_token', text: 'hello' },
      { fate: 'no_token', text: '' },
    ]);
  });

  it('is untrusted over a system that is not trusted for MO', async () => {
    const session = await gateway.create();
    const peer = await gateway.esme('doubtful');
    expect((await peer.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
    expect(await fates()).toEqual(['untrusted']);
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it('is counted', async () => {
    const before = await gateway.metric('countersign_mo_total{fate="no_token"');
    await esme.send('submit_sm', sms('hello'));
    expect(await gateway.metric('countersign_mo_total{fate="no_token"')).toBe(before + 1);
    expect(await gateway.metric('countersign_mo_answer_seconds_count')).toBeGreaterThan(0);
    expect(await gateway.metric('countersign_mo_batch_messages_count')).toBeGreaterThan(0);
  });
});

describe('a receipt', () => {
  it.each([
    [0x04, 'parked'],
    [0x20, 'undecided'],
  ])('with esm_class %i is answered OK, stored as no MO and counted as %s', async (esmClass, fate) => {
    const receipt = sms('id:7 sub:001 dlvrd:001 stat:DELIVRD err:000 text:', { esm_class: esmClass });
    expect((await esme.send('deliver_sm', receipt)).command_status).toBe(OK);
    expect(await fates()).toEqual([]);
    expect(await gateway.metric(`countersign_receipts_total{fate="${fate}"`)).toBe(1);
  });

  it('without a message id is counted as an orphan', async () => {
    const receipt = sms('stat:DELIVRD', { esm_class: 0x04 });
    expect((await esme.send('deliver_sm', receipt)).command_status).toBe(OK);
    expect(await gateway.metric('countersign_receipts_orphaned_total')).toBe(1);
  });
});

describe('a long message', () => {
  /** The text split in the middle of the token. */
  function halves(text: string): [string, string] {
    const middle = text.indexOf('-', 6) + 6;
    return [text.slice(0, middle), text.slice(middle)];
  }

  it('approves with the part that contains the token; the others have no_token', async () => {
    const session = await gateway.create();
    await esme.send('deliver_sm', partOfSms('dear people, ', 1, 3, 1));
    await esme.send('deliver_sm', partOfSms(gateway.textOf(session), 1, 3, 2));
    await esme.send('deliver_sm', partOfSms(' and thanks', 1, 3, 3));
    expect(await gateway.messages()).toMatchObject([
      { fate: 'no_token', partNumber: 1, partTotal: 3, text: 'dear people, ' },
      { fate: 'matched', partNumber: 2, partTotal: 3, sessionId: session.id },
      { fate: 'no_token', partNumber: 3, partTotal: 3 },
    ]);
  });

  it.each([
    ['in order', [0, 1]],
    ['out of order', [1, 0]],
  ])('approves with the part that completes a split token, %s', async (_, order) => {
    const session = await gateway.create();
    const [first, second] = halves(gateway.textOf(session));
    const parts = [partOfSms(first, 2, 2, 1), partOfSms(second, 2, 2, 2)];
    for (const at of order) {
      const part = parts[at];
      if (part !== undefined) expect((await esme.send('submit_sm', part)).command_status).toBe(OK);
    }
    expect(await fates()).toEqual(['no_token', 'matched']);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('approves when its parts arrive concurrently over two links of the carrier', async () => {
    const session = await gateway.create();
    const [first, second] = halves(gateway.textOf(session));
    const other = await gateway.esme('north');
    await Promise.all([
      esme.send('submit_sm', partOfSms(first, 3, 2, 1)),
      other.send('submit_sm', partOfSms(second, 3, 2, 2)),
    ]);
    expect((await fates()).sort()).toEqual(['matched', 'no_token']);
    expect(await gateway.statusOf(session)).toBe('approved');
    other.destroy();
  });

  it('can use SAR parameters', async () => {
    const session = await gateway.create();
    const texts = halves(gateway.textOf(session));
    for (const [index, text] of texts.entries()) {
      const part = { sar_msg_ref_num: 400, sar_total_segments: 2, sar_segment_seqnum: index + 1 };
      await esme.send('deliver_sm', sms(text, part));
    }
    expect(await fates()).toEqual(['no_token', 'matched']);
  });

  it('tolerates repeated parts', async () => {
    const session = await gateway.create();
    const [first, second] = halves(gateway.textOf(session));
    for (const part of [partOfSms(first, 5, 2, 1), partOfSms(first, 5, 2, 1), partOfSms(second, 5, 2, 2)]) {
      await esme.send('submit_sm', part);
    }
    expect(await fates()).toEqual(['no_token', 'no_token', 'matched']);
    await esme.send('submit_sm', partOfSms(second, 5, 2, 2));
    expect(await fates()).toEqual(['no_token', 'no_token', 'matched', 'duplicate']);
  });

  it('approves when the phone reuses the reference of its last message', async () => {
    for (const session of [await gateway.create(), await gateway.create()]) {
      const [first, second] = halves(gateway.textOf(session));
      await esme.send('submit_sm', partOfSms(first, 6, 2, 1));
      await esme.send('submit_sm', partOfSms(second, 6, 2, 2));
      expect(await gateway.statusOf(session)).toBe('approved');
    }
  });

  it('is not completed by a part of an untrusted link or of another phone', async () => {
    const session = await gateway.create();
    const [first, second] = halves(gateway.textOf(session));
    const doubtful = await gateway.esme('doubtful');
    await esme.send('submit_sm', partOfSms(first, 7, 2, 1));
    await doubtful.send('submit_sm', partOfSms(second, 7, 2, 2));
    await esme.send('submit_sm', partOfSms(second, 7, 2, 2, { source_addr: STRANGER.slice(1) }));
    expect(await fates()).toEqual(['no_token', 'no_token', 'no_token']);
    expect(await gateway.statusOf(session)).toBe('pending');
  });
});

describe('200 sessions with five concurrent MOs each over four links', () => {
  it('are approved once each, with one event each, and every MO is stored with its fate', async () => {
    const sessions = await Promise.all(Array.from({ length: 200 }, () => gateway.create()));
    const links = [esme, ...(await Promise.all(Array.from({ length: 3 }, () => gateway.esme('north'))))];
    const sent = Array.from({ length: 5 }, (_, time) =>
      sessions.map((session, at) => (links[(at + time) % 4] ?? esme).send('submit_sm', sms(gateway.textOf(session)))),
    ).flat();
    for (const answer of await Promise.all(sent)) expect(answer.command_status).toBe(OK);
    const found = await fates();
    expect(found.filter((fate) => fate === 'matched')).toHaveLength(200);
    expect(found.filter((fate) => fate === 'duplicate')).toHaveLength(800);
    const events = await gateway.harness.database.query<{ session: string }>(
      'SELECT session_id AS session FROM events',
    );
    expect(events.map(({ session }) => session).sort()).toEqual(sessions.map(({ id }) => id).sort());
    for (const link of links.slice(1)) link.destroy();
  });
});

describe('the log', () => {
  it('contains no phone, token, password or text', () => {
    const log = gateway.log.join('\n');
    expect(log).toContain('listener: system bound');
    expect(log).not.toMatch(/4155552671|2071838750/);
    expect(log).not.toMatch(/AUTH.?ACME.?[0-9A-Z]{16}/i);
    expect(log).not.toContain('secret08');
    expect(log).not.toContain('hello');
  });
});

describe('characters of several octets', () => {
  it.each([
    ['with en dashes', (text: string) => text.replaceAll('-', '\u2013')],
    ['in quotation marks', (text: string) => `\u201C${text.split('\n')[0] ?? ''}\u201D`],
  ])('in UTF-8 under data_coding 0 are read: %s', async (_, written) => {
    const session = await gateway.create();
    const text = written(gateway.textOf(session));
    expect((await esme.send('deliver_sm', sms(text))).command_status).toBe(OK);
    expect(await gateway.messages()).toMatchObject([{ fate: 'matched', text }]);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  /** Text around the token in an alphabet that shows no octets of the token when it is read from the wrong octet. */
  const around = (text: string): string => `Привет, ${text.replaceAll('-', '\u2013')} 🙂 спасибо`;

  it.each<[string, number, (text: string) => Buffer]>([
    ['UCS-2', 8, encodeUcs2],
    ['UTF-8', 0, (text) => Buffer.from(text)],
  ])('of %s may be cut between two parts, at any octet and in either order', async (_, dataCoding, encode) => {
    for (const cut of Array.from({ length: 12 }, (__, nth) => 33 + nth)) {
      const session = await gateway.create();
      const octets = encode(around(gateway.textOf(session)));
      const parts = [octets.subarray(0, cut), octets.subarray(cut)].map((part, nth) =>
        partOfSms(part, cut, 2, nth + 1, { data_coding: dataCoding }),
      );
      for (const part of cut % 3 === 0 ? parts.reverse() : parts) {
        expect((await esme.send('deliver_sm', part)).command_status).toBe(OK);
      }
      expect([cut, await gateway.statusOf(session)]).toEqual([cut, 'approved']);
    }
    expect((await fates()).filter((fate) => fate === 'matched')).toHaveLength(12);
    expect((await fates()).filter((fate) => fate === 'duplicate')).toEqual([]);
  });

  it('of UCS-2 may be cut between parts with SAR parameters', async () => {
    const session = await gateway.create();
    const octets = encodeUcs2(around(gateway.textOf(session)));
    for (const [nth, part] of [octets.subarray(0, 33), octets.subarray(33, 48), octets.subarray(48)].entries()) {
      const sar = { sar_msg_ref_num: 401, sar_total_segments: 3, sar_segment_seqnum: nth + 1 };
      await esme.send('deliver_sm', sms(part, { data_coding: 8, ...sar }));
    }
    expect(await fates()).toEqual(['no_token', 'no_token', 'matched']);
  });
});
