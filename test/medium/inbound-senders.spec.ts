import type { SmppSystem } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SmscServer } from '../../apps/simulator/src/smsc/smsc.server.js';
import { asOwner } from '../support/database.js';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, INBOUND_NUMBER, PASSWORD, sms } from '../support/gateway-harness.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { until } from '../support/until.js';

const OK = 0;
/** Rows of systems are read every second, those of binds every 2 s, and both at once on a change notification. */
const READ_WITHIN_MS = 5_000;
/** One address, two subscribers: one of Singapore, one of Alabama. */
const ADDRESS = '6592345678';
const SINGAPORE = { phone: '+6592345678', country: 'SG' };
const ALABAMA = { phone: '+16592345678', country: 'US' };

let gateway: GatewayHarness;
let systems = 0;

beforeAll(async () => {
  gateway = await GatewayHarness.open();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await asOwner(gateway.harness, 'TRUNCATE messages, sessions, events');
});

interface Peer {
  readonly system: SmppSystem;
  readonly esme: Esme;
}

/** A new bound system, trusted by default. */
async function peer(changes: Parameters<GatewayHarness['system']>[0] | object = {}): Promise<Peer> {
  const system = await gateway.system({ systemId: `agg${(systems += 1)}`, ...changes });
  return { system, esme: await gateway.esme(system.systemId) };
}

const from = (esme: Esme, ton: number, address: string, text: string): Promise<unknown> =>
  esme.send('submit_sm', sms(text, { source_addr_ton: ton, source_addr: address }));

/** The fate of a message with the token of that session, from that address. */
async function fateOf(esme: Esme, session: Session, address: string, ton = 0): Promise<string | undefined> {
  expect(await from(esme, ton, address, gateway.textOf(session))).toMatchObject({ command_status: OK });
  return (await gateway.messages()).at(-1)?.fate;
}

/** Numbers valid only in national form (North America), and only in international form (Germany). */
const nationalOnly = (number: number): string => `415555${2_600 + number}`;
const internationalOnly = (number: number): string => `49151123456${10 + number}`;

/** Sends messages without a token from `count` senders. */
async function sendFromSenders(
  esme: Esme,
  addressOf: (number: number) => string,
  count: number,
  first = 0,
): Promise<void> {
  for (let number = first; number < first + count; number += 1) await from(esme, 0, addressOf(number), 'hello');
}

interface Evidence {
  readonly learned: string | null;
  readonly reading: string | null;
  readonly count: number;
  readonly digests: string;
}

async function evidenceOf({ id }: { readonly id: Uuid }): Promise<Evidence | undefined> {
  const [row] = await gateway.harness.database.query<Evidence>(
    `SELECT learned, reading, cardinality(digests) AS count, digests::text FROM sender_formats WHERE link_id = $1`,
    [id],
  );
  return row;
}

const learned = (system: SmppSystem, format: string): Promise<void> =>
  until(`${format} is stored`, READ_WITHIN_MS, async () => (await evidenceOf(system))?.learned === format);

/** Sends MOs for new sessions until one is approved, which shows that the gateway has reloaded the row of the link. */
const approves = (esme: Esme, phone: { phone: string; country: string }): Promise<void> =>
  until(`an MO from ${phone.phone} matches`, READ_WITHIN_MS, async () => {
    return (await fateOf(esme, await gateway.create(phone), ADDRESS)) === 'matched';
  });

describe('a sender that is not a number', () => {
  it.each([3, 4, 5, 6, 7, 255])('with TON %i approves nothing, even with a plus', async (ton) => {
    const { esme } = await peer();
    const session = await gateway.create();
    expect(await fateOf(esme, session, session.phone, ton)).toBe('wrong_sender');
    expect(await fateOf(esme, session, session.phone.slice(1), ton)).toBe('wrong_sender');
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it('with alphanumeric TON and digits approves nothing', async () => {
    const { esme } = await peer();
    const session = await gateway.create({ phone: '+4791234567', country: 'NO' });
    expect(await fateOf(esme, session, '+4791234567', 5)).toBe('wrong_sender');
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it('that is an IMSI approves nothing', async () => {
    const { esme } = await peer();
    const session = await gateway.create();
    const imsi = sms(gateway.textOf(session), { source_addr_npi: 6 });
    expect((await esme.send('submit_sm', imsi)).command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('pending');
  });
});

describe('an ambiguous sender of unknown type', () => {
  it('approves neither session in auto, is stored and counted as ambiguous_sender, and creates no event', async () => {
    const { system, esme } = await peer();
    for (const phone of [SINGAPORE, ALABAMA]) {
      const session = await gateway.create(phone);
      expect(await fateOf(esme, session, ADDRESS)).toBe('ambiguous_sender');
      expect(await gateway.statusOf(session)).toBe('pending');
    }
    const counted = `countersign_mo_total{fate="ambiguous_sender",side="listener",peer="${system.systemId}"`;
    expect(await gateway.metric(counted)).toBe(2);
    expect(await gateway.harness.database.query('SELECT type FROM events')).toEqual([]);
  });

  it('approves neither session when sent to a short code of several countries, or to an unknown number', async () => {
    await gateway.carriers.createInboundNumber(gateway.harness.database, { number: '80808', countries: ['US', 'CA'] });
    const { esme } = await peer();
    const session = await gateway.create(SINGAPORE);
    const to = async (destination: string): Promise<string | undefined> => {
      const fields = { source_addr_ton: 0, source_addr: ADDRESS, dest_addr_ton: 0, destination_addr: destination };
      await esme.send('submit_sm', sms(gateway.textOf(session), fields));
      return (await gateway.messages()).at(-1)?.fate;
    };
    expect(await to('80808')).toBe('ambiguous_sender');
    expect(await to('90909')).toBe('ambiguous_sender');
    // A number of Alabama in its national form, or one of Singapore.
    expect(await to('6592345600')).toBe('ambiguous_sender');
    expect(await gateway.statusOf(session)).toBe('pending');
  });

  it.each([
    ['international', SINGAPORE, ALABAMA],
    ['national', ALABAMA, SINGAPORE],
  ] as const)('has one reading when the sender format of the link is %s', async (senderFormat, right, wrong) => {
    const { esme } = await peer({ senderFormat });
    const other = await gateway.create(wrong);
    expect(await fateOf(esme, other, ADDRESS)).toBe('wrong_sender');
    expect(await gateway.statusOf(other)).toBe('pending');
    const session = await gateway.create(right);
    expect(await fateOf(esme, session, ADDRESS)).toBe('matched');
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('has one reading after a plus or 00, on any link', async () => {
    const { esme } = await peer({ senderFormat: 'national' });
    for (const prefix of ['+', '00']) {
      expect(await fateOf(esme, await gateway.create(SINGAPORE), `${prefix}${ADDRESS}`)).toBe('matched');
    }
  });

  it('is read by the format of a bind too, and by a changed one after the row changes', async () => {
    const smsc = new SmscServer({ systemId: 'us', password: PASSWORD, log: () => undefined });
    const port = await smsc.listen(0);
    const bind = await gateway.bind({
      name: 'west',
      hosts: [{ host: '127.0.0.1', port }],
      senderFormat: 'international',
    });
    try {
      await until('the bind is bound', READ_WITHIN_MS, () => smsc.links().some(({ receives }) => receives));
      const deliver = async (session: Session): Promise<string | undefined> => {
        const source = { ton: 0, npi: 1, value: ADDRESS };
        const destination = { ton: 1, npi: 1, value: INBOUND_NUMBER.slice(1) };
        await smsc.sendMo(source, destination, gateway.textOf(session));
        return (await gateway.messages()).at(-1)?.fate;
      };
      expect(await deliver(await gateway.create(ALABAMA))).toBe('wrong_sender');
      expect(await deliver(await gateway.create(SINGAPORE))).toBe('matched');
      await gateway.carriers.updateBind(gateway.harness.database, { ...bind, senderFormat: 'national' });
      await until('the changed format is used', READ_WITHIN_MS, async () => {
        return (await deliver(await gateway.create(ALABAMA))) === 'matched';
      });
      expect(await deliver(await gateway.create(SINGAPORE))).toBe('wrong_sender');
    } finally {
      await gateway.harness.database.query('DELETE FROM binds');
      await smsc.close();
    }
  });
});

describe('a link in auto', () => {
  it('learns its format from the 20th different sender, and not from the 19th', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, nationalOnly, 19);
    await sendFromSenders(esme, nationalOnly, 19);
    await until('19 senders are stored', READ_WITHIN_MS, async () => (await evidenceOf(system))?.count === 19);
    expect(await evidenceOf(system)).toMatchObject({ learned: null, reading: 'national' });
    expect(await fateOf(esme, await gateway.create(ALABAMA), ADDRESS)).toBe('ambiguous_sender');
    await sendFromSenders(esme, nationalOnly, 1, 19);
    await learned(system, 'national');
    await approves(esme, ALABAMA);
    expect(await fateOf(esme, await gateway.create(SINGAPORE), ADDRESS)).toBe('wrong_sender');
  });

  it('learns the international format, also from messages that approve', async () => {
    const { system, esme } = await peer();
    for (let number = 0; number < 20; number += 1) {
      const phone = `+${internationalOnly(number)}`;
      expect(await fateOf(esme, await gateway.create({ phone, country: 'DE' }), phone.slice(1))).toBe('matched');
    }
    await learned(system, 'international');
    await approves(esme, SINGAPORE);
    expect(await fateOf(esme, await gateway.create(ALABAMA), ADDRESS)).toBe('wrong_sender');
  });

  it('stores no number in clear, and at most 20 digests', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, nationalOnly, 5);
    await until('5 senders are stored', READ_WITHIN_MS, async () => (await evidenceOf(system))?.count === 5);
    const { digests = '' } = (await evidenceOf(system)) ?? {};
    for (let number = 0; number < 5; number += 1) {
      expect(digests).not.toContain(nationalOnly(number));
      expect(digests).not.toContain(Buffer.from(nationalOnly(number)).toString('hex'));
    }
    await sendFromSenders(esme, nationalOnly, 15, 5);
    await learned(system, 'national');
    expect(await evidenceOf(system)).toMatchObject({ count: 0 });
  });

  it('learns nothing from repeats of one sender, ambiguous senders or senders of other types', async () => {
    const { system, esme } = await peer();
    await Promise.all(Array.from({ length: 60 }, () => from(esme, 0, nationalOnly(1), 'hello')));
    for (let number = 0; number < 25; number += 1) {
      await from(esme, 0, `65923456${10 + number}`, 'hello');
      await from(esme, 1, internationalOnly(number), 'hello');
      await from(esme, 2, nationalOnly(number), 'hello');
      await from(esme, 0, `00${internationalOnly(number)}`, 'hello');
      await from(esme, 5, nationalOnly(number), 'hello');
    }
    await sendFromSenders(esme, nationalOnly, 1, 2);
    await until('2 senders are stored', READ_WITHIN_MS, async () => (await evidenceOf(system))?.count === 2);
    expect(await evidenceOf(system)).toMatchObject({ learned: null, reading: 'national' });
  });

  it('learns nothing while it is not trusted', async () => {
    const { system, esme } = await peer({ trustedForMo: false });
    const { system: other, esme: trusted } = await peer();
    await sendFromSenders(esme, internationalOnly, 25);
    await sendFromSenders(trusted, internationalOnly, 1);
    await until(
      'evidence of the trusted link is stored',
      READ_WITHIN_MS,
      async () => (await evidenceOf(other))?.count === 1,
    );
    expect(await evidenceOf(system)).toBeUndefined();
  });

  it('stays mixed after one contradiction, however many senders follow', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, nationalOnly, 1);
    await sendFromSenders(esme, internationalOnly, 40);
    await learned(system, 'mixed');
    await sendFromSenders(esme, internationalOnly, 40);
    for (const phone of [SINGAPORE, ALABAMA]) {
      expect(await fateOf(esme, await gateway.create(phone), ADDRESS)).toBe('ambiguous_sender');
    }
    const session = await gateway.create();
    expect(await fateOf(esme, session, session.phone.slice(2))).toBe('matched');
    expect(await evidenceOf(system)).toMatchObject({ learned: 'mixed', count: 0 });
  });

  it('discards its learned format at the first contradicting sender, whose message is ambiguous_sender', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, internationalOnly, 20);
    await learned(system, 'international');
    await approves(esme, SINGAPORE);
    const session = await gateway.create();
    expect(await fateOf(esme, session, session.phone.slice(2))).toBe('ambiguous_sender');
    expect(await fateOf(esme, await gateway.create(SINGAPORE), ADDRESS)).toBe('ambiguous_sender');
    await learned(system, 'mixed');
    await until('the log names the setting', READ_WITHIN_MS, () =>
      gateway.log.some((line) => line.includes(system.systemId) && line.includes('senderFormat')),
    );
    await gateway.carriers.updateSystem(gateway.harness.database, { ...system, senderFormat: 'international' });
    await approves(esme, SINGAPORE);
  });

  it('learns again after its evidence is discarded, from later senders only', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, internationalOnly, 19);
    await until('19 senders are stored', READ_WITHIN_MS, async () => (await evidenceOf(system))?.count === 19);
    await gateway.carriers.discardSenderEvidence(gateway.harness.database, system.id);
    let number = 0;
    await until('the gateway has read the row', READ_WITHIN_MS, async () => {
      await sendFromSenders(esme, nationalOnly, 1, (number += 1));
      return (await evidenceOf(system))?.reading === 'national';
    });
    await sendFromSenders(esme, nationalOnly, 20, number + 1);
    await learned(system, 'national');
  });
});

describe('a learned format', () => {
  it('is kept over a restart of the gateway', async () => {
    const { system, esme } = await peer();
    await sendFromSenders(esme, nationalOnly, 12);
    await gateway.stop();
    await gateway.start();
    expect(await evidenceOf(system)).toMatchObject({ learned: null, count: 12 });
    const again = await gateway.esme(system.systemId);
    await sendFromSenders(again, nationalOnly, 8, 12);
    await learned(system, 'national');
    await gateway.stop();
    await gateway.start();
    const last = await gateway.esme(system.systemId);
    expect(await fateOf(last, await gateway.create(ALABAMA), ADDRESS)).toBe('matched');
  });

  it('is learned from the evidence of two gateways, and discarded by both', async () => {
    const { system, esme } = await peer();
    const sibling = await SiblingGateway.start(gateway);
    try {
      const other = await gateway.esme(system.systemId, { port: sibling.smppPort });
      await sendFromSenders(esme, nationalOnly, 10);
      await sendFromSenders(other, nationalOnly, 10, 10);
      await learned(system, 'national');
      await approves(esme, ALABAMA);
      await approves(other, ALABAMA);
      await sendFromSenders(other, internationalOnly, 1);
      await learned(system, 'mixed');
      await until('the first gateway has discarded the format', READ_WITHIN_MS, async () => {
        return (await fateOf(esme, await gateway.create(ALABAMA), ADDRESS)) === 'ambiguous_sender';
      });
    } finally {
      await sibling.close();
    }
  });
});
