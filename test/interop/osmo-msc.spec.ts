import { once } from 'node:events';
import net from 'node:net';
import type { ConnectionStatus } from '@countersign/carriers/status';
import type { NewBind } from '@countersign/carriers/config';
import { SmppLink } from '@countersign/smpp/link';
import { STATUS, submitSm } from '@countersign/smpp/pdu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { osmoMscIsMissing, tsharkIsMissing } from '../support/foreign-stack.js';
import { INBOUND_NUMBER, PASSWORD } from '../support/gateway-harness.js';
import { OsmoMsc } from '../support/osmo-msc.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { WireTap } from '../support/wire-tap.js';

const WITHIN_MS = 20_000;
const KINDS = ['transceiver', 'transmitter', 'receiver'] as const;
/** OsmoMSC gives every message this id. */
const ONLY_ID = 'msg_id_not_implemented';
/** esm_class: transaction mode, in which the SMSC forwards before it answers. */
const TRANSACTION_MODE = 2;
const UNKNOWN_COMMAND = /no such command|unknown command|incomplete|ambiguous/i;

describe.skipIf(osmoMscIsMissing)('OsmoMSC that we bind to', () => {
  const systems = ['us', 'engine', ...KINDS].map((systemId) => ({ systemId, password: PASSWORD }));
  const west = new Carrier('west');
  let msc: OsmoMsc;
  let tap: WireTap;
  let out: OutboundHarness;

  beforeAll(async () => {
    msc = new OsmoMsc(systems);
    tap = await WireTap.open('client', await msc.start());
    const osmo = tap.carrier('osmo', () => msc.hasBind('us'));
    out = await OutboundHarness.open([
      { carrier: osmo, bind: { enquireLinkSeconds: 1, responseTimeoutSeconds: 10 } },
      { carrier: west, route: { priority: 1 } },
    ]);
  });
  afterAll(async () => {
    await out.close();
    await tap.close();
    await west.close();
    await msc.remove();
  });

  /** Waits until the connection of a bind has such a status. */
  async function bindIs(
    id: string,
    what: string,
    holds: (status: Partial<ConnectionStatus>) => boolean,
  ): Promise<void> {
    await until(`the bind ${what}`, WITHIN_MS, async () => {
      const rows = await out.gateway.harness.database.query<{ status: Partial<ConnectionStatus> | null }>(
        'SELECT status FROM bind_connections WHERE bind_id = $1',
        [id],
      );
      return rows.some(({ status }) => status !== null && holds(status));
    });
  }

  const create = async (changes: Partial<NewBind> & { readonly name: string }): Promise<string> => {
    const hosts = [{ host: '127.0.0.1', port: tap.port }];
    return (await out.gateway.bind({ hosts, enquireLinkSeconds: 1, ...changes })).id;
  };
  const stored = (): number => msc.count('Stored in DB');
  /** Waits for a code that goes out over OsmoMSC. */
  async function takesCode(text?: string): Promise<void> {
    const id = await out.queueCode(await out.gateway.create(), text === undefined ? {} : { text });
    expect(await out.waitForState(id, 'submitted')).toMatchObject({ carrier: 'osmo', smscMessageId: ONLY_ID });
  }

  it.each(KINDS)('is bound to as a %s, and answers our enquire_link', async (kind) => {
    const id = await create({ name: `as-${kind}`, systemId: kind, bindType: kind });
    await bindIs(
      id,
      'is answered',
      ({ state, enquireLinkMs }) => state === 'bound' && typeof enquireLinkMs === 'number',
    );
  });

  it.each([
    ['a wrong password', 'ESME_RINVPASWD', { password: 'wrong' }],
    ['a system_id that it does not know', 'ESME_RINVSYSID', { systemId: 'stranger' }],
  ] as const)('refuses %s, and the bind shows %s', async (_, status, changes) => {
    const id = await create({ name: status.toLowerCase(), ...changes });
    await bindIs(id, `shows ${status}`, ({ state, lastError }) => state !== 'bound' && !!lastError?.includes(status));
  });

  it('does not answer a bind of version 5.0, which it cannot decode, and the bind shows it', async () => {
    const id = await create({ name: 'five', interfaceVersion: '5.0', responseTimeoutSeconds: 1 });
    await bindIs(
      id,
      'shows it',
      ({ state, lastError }) => state !== 'bound' && /bind_transceiver.* ms/.test(lastError ?? ''),
    );
  });

  it('stores codes to a number that it does not know, and gives all the same id', async () => {
    const before = stored();
    await takesCode();
    await takesCode();
    expect(stored() - before).toBe(2);
  });

  it('takes GSM extension characters, and a long text in parts of UCS-2', async () => {
    const before = stored();
    await takesCode('123456 €[]{}|\\~^@_');
    await takesCode(`654321 “${'ж'.repeat(90)}”`);
    expect(stored() - before).toBe(3);
  });

  it('refuses in a response without a message_id what it cannot forward at once, and the link stays bound', async () => {
    const socket = net.connect(tap.port, '127.0.0.1');
    await once(socket, 'connect');
    const link = new SmppLink(socket, {
      endpoint: { role: 'esme', interfaceVersion: 0x34 },
      timers: { sessionInitMs: 15_000, pduReadMs: 15_000, enquireLinkMs: 15_000, responseMs: 15_000, inactivityMs: 0 },
      limits: { window: 10, maxInbound: 10 },
      handlers: { onMessage: () => ({ status: STATUS.ESME_RSYSERR }) },
    });
    const bound = await link.bind({ bindType: 'transceiver', systemId: 'engine', password: PASSWORD });
    expect(bound).toEqual({ status: STATUS.ESME_ROK, systemId: '' });
    const submit = async (esmClass: number): Promise<number> => {
      const [sourceAddress, destinationAddress] = [INBOUND_NUMBER, PHONE].map((number) => number.slice(1));
      const pdu = submitSm({
        sourceAddress: { ton: 1, npi: 1, value: sourceAddress ?? '' },
        destinationAddress: { ton: 1, npi: 1, value: destinationAddress ?? '' },
        esmClass,
        shortMessage: Buffer.from('a message'),
      });
      return (await link.request(pdu)).status;
    };
    expect(await submit(TRANSACTION_MODE)).toBe(STATUS.ESME_RINVDSTADR);
    expect(await submit(0)).toBe(STATUS.ESME_ROK);
    await link.unbind();
    await link.closed;
    expect(msc.count('[engine] Rx UNBIND')).toBe(1);
  });

  it('forgets our system_id: codes take the next route until it has it again', async () => {
    const [row] = await out.gateway.harness.database.query<{ id: string }>(`SELECT id FROM binds WHERE name = 'osmo'`);
    expect(await msc.configure(['no esme us'])).not.toMatch(UNKNOWN_COMMAND);
    await bindIs(row?.id ?? '', 'is refused', ({ lastError }) => !!lastError?.includes('ESME_RINVSYSID'));
    const id = await out.queueCode(await out.gateway.create());
    expect(await out.waitForState(id, 'submitted')).toMatchObject({ carrier: 'west' });
    expect(await msc.configure(['esme us', `password ${PASSWORD}`])).not.toMatch(UNKNOWN_COMMAND);
    // A requested reconnect ends the standoff after the refusal.
    await out.sql('UPDATE binds SET generation = generation + 1 WHERE id = $1', [row?.id]);
    await takesCodesAgain();
  });

  it('ends and starts again, and is bound to again', async () => {
    await msc.stop();
    await msc.start();
    await takesCodesAgain();
  });

  it('is unbound when the gateway stops, and bound to when it starts', async () => {
    await takesCodesAgain();
    const before = msc.count('[us] Rx UNBIND');
    await out.gateway.stop();
    expect(msc.count('[us] Rx UNBIND') - before).toBe(1);
    await out.gateway.start();
    await takesCodesAgain();
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', async () => {
    await takesCode();
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect([...sentByUs.keys()]).toEqual(expect.arrayContaining(['0x00000009', '0x00000004', '0x00000006']));
  });

  /** Until OsmoMSC is bound to again, codes take the other route. */
  async function takesCodesAgain(): Promise<void> {
    await until('a code goes out over OsmoMSC', WITHIN_MS, async () => {
      const id = await out.queueCode(await out.gateway.create());
      return (await out.waitForState(id, 'submitted')).carrier === 'osmo';
    });
  }
});
