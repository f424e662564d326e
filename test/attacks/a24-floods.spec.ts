import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PduValues } from 'smpp';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import type { Esme } from '../support/esme.js';
import { counted, cstring, enquireLink, ID, message, pdu, RESP } from '../../libs/smpp/src/codec/octets.fixture.js';
import { RawPeer } from '../../libs/smpp/src/link/raw-peer.fixture.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { PASSWORD, sms } from '../support/gateway-harness.js';
import { OutboundHarness } from '../support/outbound-harness.js';

const OK = 0;
const MESSAGE_QUEUE_FULL = 0x14;

let harness: ControlPlaneHarness;
/** Accepts any number of messages from one sender. */
let gateway: GatewayBeside;
let carrier: Esme;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  gateway = await GatewayBeside.start(harness, { MO_SENDER_PER_SECOND: '1000000' });
  await gateway.system({ systemId: 'carrier' });
  carrier = await gateway.esme('carrier');
});
afterAll(async () => {
  await gateway.stop();
  await harness.close();
});

async function opened(): Promise<{ readonly id: string; readonly text: string }> {
  const { json } = await harness.create();
  return { id: String(json['id']), text: decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '') };
}

const statusOf = async (id: string): Promise<unknown> => (await harness.call(`/v1/verify/${id}`)).json['status'];

const submit = async (text: string, changes: PduValues = {}, esme = carrier): Promise<number> =>
  (await esme.send('submit_sm', sms(text, changes))).command_status;

describe('A24 a flood of messages', () => {
  it('A24 of one sender beyond its rate gets a temporary error; messages that were answered OK are stored, and other senders are not affected', async () => {
    const strict = await GatewayBeside.start(harness);
    try {
      await gateway.system({ systemId: 'flooded' });
      const esme = await strict.esme('flooded');
      const { id, text } = await opened();
      const flood = Array.from({ length: 400 }, () => submit('hello', { source_addr: '14155558888' }, esme));
      expect(await submit(text, {}, esme)).toBe(OK);
      expect(await statusOf(id)).toBe('approved');
      const statuses = await Promise.all(flood);
      const taken = statuses.filter((status) => status === OK).length;
      expect(new Set(statuses)).toEqual(new Set([OK, MESSAGE_QUEUE_FULL]));
      const [row] = await harness.database.query<{ stored: number }>(
        `SELECT count(*)::int AS stored FROM messages WHERE source = '14155558888'`,
      );
      expect(row?.stored).toBe(taken);
      expect(taken).toBeLessThan(200);
    } finally {
      await strict.stop();
    }
  });
});

describe('A24 a flood of messages whose sender has the digits of a phone', () => {
  it.each([
    ['a sender of letters', { source_addr_ton: 5, source_addr_npi: 0 }],
    ['a short code', { source_addr_ton: 3, source_addr_npi: 0 }],
  ])('A24 of %s leaves the rate of the phone alone', async (_, sender) => {
    const strict = await GatewayBeside.start(harness);
    try {
      const systemId = `letters-${sender.source_addr_ton}`;
      await gateway.system({ systemId });
      const esme = await strict.esme(systemId);
      const { id, text } = await opened();
      const flood = await Promise.all(Array.from({ length: 400 }, () => submit('hello', sender, esme)));
      expect(flood).toContain(MESSAGE_QUEUE_FULL);
      expect(await submit(text, {}, esme)).toBe(OK);
      expect(await statusOf(id)).toBe('approved');
    } finally {
      await strict.stop();
    }
  });
});

describe('A24 a flood of messages with one token', () => {
  const MESSAGES = 600;

  it('A24 from many phones takes few transactions, so that others do not wait for it', async () => {
    const { id, text } = await opened();
    const { flood, honest } = await harness.database.transaction(async (tx) => {
      // No MO is stored until the lock is released; those sent until then are queued.
      await tx.query('LOCK TABLE messages IN SHARE ROW EXCLUSIVE MODE');
      const sent = Array.from({ length: MESSAGES }, (_, at) => submit(text, { source_addr: `44790000${1_000 + at}` }));
      const own = submit(text);
      await carrier.enquireLink();
      return { flood: sent, honest: own };
    });
    expect(new Set(await Promise.all(flood))).toEqual(new Set([OK]));
    expect(await honest).toBe(OK);
    expect(await statusOf(id)).toBe('approved');
    const [stored] = await harness.database.query<{ messages: number; transactions: number }>(
      `SELECT count(*)::int AS messages, count(DISTINCT xmin::text)::int AS transactions
       FROM messages WHERE source LIKE '44790000%'`,
    );
    expect(stored?.messages).toBe(MESSAGES);
    expect(stored?.transactions).toBeLessThan(MESSAGES / 10);
  });
});

describe('A24 a flood of PDUs that are no messages', () => {
  const ENQUIRIES = Buffer.concat(Array.from({ length: 20_000 }, (_, at) => enquireLink(at + 1)));

  it('A24 from connections without a bind ends them, and from a bound one is read slowly: MOs are answered meanwhile', async () => {
    await gateway.system({ systemId: 'enquirer', trustedForMo: false });
    const bound = await RawPeer.connect(gateway.ports.smpp);
    expect((await bound.bind('enquirer', PASSWORD)).status).toBe(OK);
    const unbound = await Promise.all(Array.from({ length: 10 }, () => RawPeer.connect(gateway.ports.smpp)));
    for (const peer of [...unbound, bound]) peer.send(ENQUIRIES);
    const { id, text } = await opened();
    expect(await submit(text)).toBe(OK);
    expect(await statusOf(id)).toBe('approved');
    for (const peer of unbound) expect(await peer.closed()).toBeLessThanOrEqual(16);
    expect(bound.unread.length).toBeLessThan(20_000);
    bound.destroy();
  });

  it('A24 from a peer that repeats its unbind, while a request of ours keeps the connection open, is read slowly', async () => {
    await gateway.system({ systemId: 'unbinder', trustedForMo: false });
    const peer = await RawPeer.connect(gateway.ports.smpp);
    expect((await peer.bind('unbinder', PASSWORD)).status).toBe(OK);
    peer.send(message({ registered: Buffer.of(1) }, [], ID.submit_sm, 2));
    // The receipt that it asked for is not answered: the unbind waits for it.
    await peer.request(ID.deliver_sm);
    peer.send(Buffer.concat(Array.from({ length: 200_000 }, (_, at) => pdu(ID.unbind, at + 10))));
    const { id, text } = await opened();
    expect(await submit(text)).toBe(OK);
    expect(await statusOf(id)).toBe('approved');
    expect(await peer.closed()).toBeLessThan(20_000);
  });
});

describe('A24 a flood of receipts that are answered at once', () => {
  const RECEIPTS = 60_000;

  it('A24 leaves half of the time to others: an MO is approved long before it is read', async () => {
    await gateway.system({ systemId: 'reporter' });
    const peer = await RawPeer.connect(gateway.ports.smpp);
    expect((await peer.bind('reporter', PASSWORD)).status).toBe(OK);
    const { id, text } = await opened();
    const receipt = { esmClass: Buffer.of(4), text: counted('id:1 stat:ENROUTE') };
    peer.send(Buffer.concat(Array.from({ length: RECEIPTS }, (_, at) => message(receipt, [], ID.deliver_sm, at + 10))));
    await peer.answer(10);
    expect(await submit(text)).toBe(OK);
    expect(peer.unread.length).toBeLessThan(RECEIPTS / 2);
    expect(await statusOf(id)).toBe('approved');
    peer.destroy();
  });
});

describe('A24 a flood over a system that is not trusted', () => {
  it('A24 waits in a queue of its own: an MO that can approve is stored before those that arrived earlier', async () => {
    await gateway.system({ systemId: 'untrusted-flood', trustedForMo: false });
    const esme = await gateway.esme('untrusted-flood');
    const { id, text } = await opened();
    const { flood, honest } = await harness.database.transaction(async (tx) => {
      // No MO is stored until the lock is released; those sent until then are queued.
      await tx.query('LOCK TABLE messages IN SHARE ROW EXCLUSIVE MODE');
      const sent = Array.from({ length: 900 }, () => submit('hello', {}, esme));
      await esme.enquireLink();
      const after = submit(text);
      await carrier.enquireLink();
      return { flood: sent, honest: after };
    });
    expect(await honest).toBe(OK);
    await Promise.all(flood);
    // By the clock of the database: this process may receive the responses in another order.
    const [row] = await harness.database.query<{ before: number }>(
      `SELECT count(*)::int AS before FROM messages
       WHERE fate = 'untrusted' AND received_at < (SELECT received_at FROM messages WHERE session_id = $1)`,
      [parseId('sess', id)],
    );
    expect(row?.before).toBeLessThan(flood.length / 2);
    expect(await statusOf(id)).toBe('approved');
  });
});

describe('A24 a flood of texts like receipts', () => {
  /** Adds a code to +14155557777 that the carrier has accepted under this id. */
  const addSubmitted = (name: string, smscId: string): Promise<unknown> =>
    harness.database.query(
      `WITH sent AS (
         INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
           state, created_at, expires_at)
         VALUES ($1, gen_random_uuid(), gen_random_uuid(), false, '+14155557777', '+1415555', 'US', 'ACME',
           'submitted', clock_timestamp(), clock_timestamp())
         RETURNING id)
       INSERT INTO submissions (carrier, smsc_message_id, message_id, updated_at)
       SELECT $2, $3, id, clock_timestamp() FROM sent`,
      [harness.clock.newId(), name, smscId],
    );

  it('A24 settles no message of another phone: only an empty source is that of a carrier, not one without digits', async () => {
    await gateway.system({ systemId: 'no-phone', carrier: 'no-phone' });
    const esme = await gateway.esme('no-phone');
    await addSubmitted('no-phone', 'w-2');
    for (const source of ['+', '0', '-', '']) {
      expect(await submit('id:w-2 stat:ENROUTE', { source_addr: source }, esme)).toBe(OK);
    }
    const rows = await harness.database.query<{ source: string }>(
      `SELECT source FROM messages WHERE carrier = 'no-phone' ORDER BY source COLLATE "C"`,
    );
    // The others are MOs; that without a source is a receipt, and no MO.
    expect(rows.map(({ source }) => source)).toEqual(['+', '-', '0']);
  });

  it('A24 counts towards the rate of its sender, even where they name a message to that phone', async () => {
    const strict = await GatewayBeside.start(harness);
    try {
      await gateway.system({ systemId: 'text-receipts', carrier: 'text-receipts' });
      const esme = await strict.esme('text-receipts');
      await addSubmitted('text-receipts', 'w-1');
      const fields = { source_addr: '14155557777' };
      const flood = Array.from({ length: 150 }, () => submit('id:w-1 stat:ENROUTE', fields, esme));
      expect(new Set(await Promise.all(flood))).toEqual(new Set([OK, MESSAGE_QUEUE_FULL]));
      const [row] = await harness.database.query<{ stored: number }>(
        `SELECT count(*)::int AS stored FROM messages WHERE source = '14155557777'`,
      );
      // Those within the rate were looked up: they are receipts, and no MOs.
      expect(row?.stored).toBe(0);
    } finally {
      await strict.stop();
    }
  });
});

describe('A24 a flood of receipts', () => {
  const receipt = async (esme: Esme, id: string): Promise<number> => {
    const text = `id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000 text:`;
    return (await esme.send('deliver_sm', sms(text, { esm_class: 0x04 }))).command_status;
  };
  const flood = (esme: Esme, wave: string): Promise<number[]> =>
    Promise.all(Array.from({ length: 1_500 }, (_, nth) => receipt(esme, `${wave}-${nth}`)));

  it('A24 of invented ids is refused for a retry beyond a rate, and stores nothing then; a receipt of a known message is taken', async () => {
    await gateway.system({ systemId: 'inventor', trustedForMo: false, carrier: 'invented' });
    const esme = await gateway.esme('inventor');
    const statuses = [...(await flood(esme, 'a')), ...(await flood(esme, 'b'))];
    expect(new Set(statuses)).toEqual(new Set([OK, MESSAGE_QUEUE_FULL]));
    await harness.database.query(
      `INSERT INTO submissions (carrier, smsc_message_id, message_id, updated_at)
       VALUES ('invented', 'known', gen_random_uuid(), clock_timestamp())`,
    );
    expect(await receipt(esme, 'known')).toBe(OK);
    const [row] = await harness.database.query<{ stored: number }>(
      `SELECT count(*)::int AS stored FROM submissions WHERE carrier = 'invented' AND message_id IS NULL`,
    );
    expect(row?.stored).toBe(statuses.filter((status) => status === OK).length);
  });
});

/** A carrier that accepts binds, answers no submit, and from the first one on sends enquire_link as fast as it can. */
class FloodingCarrier {
  readonly name = 'flooding';
  isBound = false;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket.on('error', () => undefined));
    socket.on('close', () => (this.isBound = false));
    socket.on('data', (octets: Buffer) => {
      const id = octets.readUInt32BE(4);
      if (id === ID.bind_transceiver) {
        socket.write(pdu(RESP + id, octets.readUInt32BE(12), [cstring('smsc')]));
        this.isBound = true;
      }
      if (id === ID.submit_sm) this.#flood(socket);
    });
  });

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #flood(socket: Socket): void {
    const octets = Buffer.concat(Array.from({ length: 4_096 }, (_, at) => enquireLink(at + 100)));
    const send = (): void => {
      while (!socket.destroyed && socket.write(octets));
    };
    socket.on('drain', send);
    send();
  }
}

describe('A24 a carrier that floods and answers nothing', () => {
  it('A24 keeps no code for itself: it is sent over another route', async () => {
    const [flooding, other] = [new FloodingCarrier(), new Carrier('other')];
    const outbound = await OutboundHarness.open([
      { carrier: flooding, route: { priority: 1 } },
      { carrier: other, route: { priority: 2 } },
    ]);
    try {
      const code = await outbound.queueCode(await outbound.gateway.create({ ttlSeconds: 300 }));
      const { carrier: sentBy } = await outbound.waitForState(code, 'submitted');
      expect(sentBy).toBe('other');
    } finally {
      flooding.close();
      await outbound.close();
      await other.close();
    }
  });
});
