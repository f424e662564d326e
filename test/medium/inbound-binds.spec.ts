import { once } from 'node:events';
import { sealBindPassword } from '@countersign/carriers/config';
import { generate } from 'selfsigned';
import smpp from 'smpp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SmscServer } from '../../apps/simulator/src/smsc/smsc.server.js';
import { freePort } from '../../config/stack/postgres.mjs';
import { asOwner } from '../support/database.js';
import { GatewayHarness, INBOUND_NUMBER, PASSWORD } from '../support/gateway-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const QUEUE_FULL = 0x14;
/** Rows are read every 2 s. */
const CONVERGED_WITHIN_MS = 4_000;
/** Longest backoff, with jitter and a connect timeout. */
const BOUND_AGAIN_WITHIN_MS = 20_000;
const FROM = { ton: 1, npi: 1, value: PHONE.slice(1) };
const TO = { ton: 1, npi: 1, value: INBOUND_NUMBER.slice(1) };

let gateway: GatewayHarness;
const open: SmscServer[] = [];

beforeAll(async () => {
  gateway = await GatewayHarness.open();
});
afterAll(() => gateway.close());
afterEach(async () => {
  await gateway.harness.database.query('DELETE FROM binds');
  await Promise.all(open.splice(0).map((smsc) => smsc.close()));
  await asOwner(gateway.harness, 'TRUNCATE messages');
});

/** Number of bind links in that state, from the metrics. */
const states = (state: string): Promise<number> =>
  gateway.metric(`countersign_smpp_links{side="bind",state="${state}"`);

const reconnectsOf = (name: string): Promise<number> =>
  gateway.metric(`countersign_smpp_reconnects_total{bind="${name}"`);

async function smscAt(port = 0): Promise<{ smsc: SmscServer; hosts: { host: string; port: number }[] }> {
  const smsc = new SmscServer({ systemId: 'us', password: PASSWORD, log: () => undefined });
  open.push(smsc);
  return { smsc, hosts: [{ host: '127.0.0.1', port: await smsc.listen(port) }] };
}

const isBound = (smsc: SmscServer): boolean => smsc.links().some(({ receives }) => receives);

const bound = (smsc: SmscServer, withinMs = CONVERGED_WITHIN_MS): Promise<void> =>
  until('the bind is bound', withinMs, () => isBound(smsc));

const update = (change: string): Promise<unknown> => gateway.harness.database.query(`UPDATE binds SET ${change}`);

const fates = async (): Promise<string[]> => (await gateway.messages()).map(({ fate }) => fate);

/** Resets the carrier's connections and closes its port. */
async function kill(smsc: SmscServer): Promise<void> {
  smsc.dropLinks();
  await smsc.close();
}

describe('a bind of ours', () => {
  it('is bound within seconds of its row, and its MOs approve sessions', async () => {
    const { smsc, hosts } = await smscAt();
    const { id } = await gateway.bind({ name: 'plain', hosts });
    await bound(smsc);
    const session = await gateway.create();
    expect(await smsc.sendMo(FROM, TO, gateway.textOf(session))).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    expect(await gateway.messages()).toMatchObject([{ fate: 'matched', linkId: id, carrier: 'north' }]);
    expect(await states('bound')).toBe(1);
  });

  it('accepts UCS-2 and long messages, whichever part completes the token', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'long', hosts });
    await bound(smsc);
    for (const lead of ['“curly” ', `${'x'.repeat(120)} `, `${'Ω'.repeat(55)} `]) {
      const session = await gateway.create();
      expect(await smsc.sendMo(FROM, TO, lead + gateway.textOf(session))).toBe(OK);
      expect(await gateway.statusOf(session)).toBe('approved');
    }
  });

  it('can bind as a receiver', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'receiver', hosts, bindType: 'receiver' });
    await bound(smsc);
    expect(smsc.links()).toMatchObject([{ bindType: 'receiver', systemId: 'us' }]);
    expect(await smsc.sendMo(FROM, TO, 'hello')).toBe(OK);
  });

  it('unbinds when its row is disabled or deleted, and binds again when enabled', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'switched', hosts });
    await bound(smsc);
    await update('enabled = false');
    await until('the bind is unbound', CONVERGED_WITHIN_MS, () => smsc.links().length === 0);
    await update('enabled = true');
    await bound(smsc, 2 * CONVERGED_WITHIN_MS);
    await gateway.harness.database.query('DELETE FROM binds');
    await until('the bind is unbound', CONVERGED_WITHIN_MS, () => smsc.links().length === 0);
  });

  it('reconnects when its row needs another connection', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'changed', hosts });
    await bound(smsc);
    await update(`bind_type = 'receiver'`);
    await until('the bind is a receiver', CONVERGED_WITHIN_MS, () => smsc.links()[0]?.bindType === 'receiver');
  });

  it('keeps its connection when its password is sealed again, as a rotation of the master key does', async () => {
    const { smsc, hosts } = await smscAt();
    const { id } = await gateway.bind({ name: 'resealed', hosts, trustedForMo: false });
    await bound(smsc);
    const [before] = smsc.links();
    const sealed = sealBindPassword(gateway.harness.keys, id, PASSWORD);
    await gateway.harness.database.query('UPDATE binds SET password_sealed = $1, trusted_for_mo = true', [sealed]);
    const session = await gateway.create();
    await until('the row is applied', CONVERGED_WITHIN_MS, async () => {
      await smsc.sendMo(FROM, TO, gateway.textOf(session));
      return (await gateway.statusOf(session)) === 'approved';
    });
    expect(smsc.links()).toEqual([before]);
  });

  it('keeps its connection when only message settings change', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'trust', hosts, trustedForMo: false });
    await bound(smsc);
    const [before] = smsc.links();
    await smsc.sendMo(FROM, TO, gateway.textOf(await gateway.create()));
    expect(await fates()).toEqual(['untrusted']);
    await update('trusted_for_mo = true');
    await until('its MOs are trusted', CONVERGED_WITHIN_MS, async () => {
      await smsc.sendMo(FROM, TO, gateway.textOf(await gateway.create()));
      return (await fates()).includes('matched');
    });
    expect(smsc.links()).toEqual([before]);
  });

  it('is bound again within 20 s after its carrier is reachable again', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'killed', hosts });
    await bound(smsc);
    await kill(smsc);
    await until('reconnection attempts have failed', 5_000, async () => (await reconnectsOf('killed')) > 1);
    const { smsc: again } = await smscAt(hosts[0]?.port);
    await bound(again, BOUND_AGAIN_WITHIN_MS);
    expect(await again.sendMo(FROM, TO, gateway.textOf(await gateway.create()))).toBe(OK);
  }, 40_000);

  it('tries its hosts in rotation', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'pair', hosts: [{ host: '127.0.0.1', port: await freePort() }, ...hosts] });
    await bound(smsc);
  });

  it('reconnects when the carrier does not answer enquire_link', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'silent', hosts, enquireLinkSeconds: 1, responseTimeoutSeconds: 1 });
    await bound(smsc);
    smsc.switches.set({ muteEnquireLink: true });
    const before = smsc.links()[0];
    await until('the link is replaced', 5_000, () => smsc.links()[0] !== before);
  });

  it('is in standoff after a refusal, and binds when the carrier accepts again', async () => {
    const { smsc, hosts } = await smscAt();
    smsc.switches.set({ rejectBind: true });
    await gateway.bind({ name: 'refused', hosts });
    await until('the bind is in standoff', CONVERGED_WITHIN_MS, async () => (await states('standoff')) === 1);
    expect(await reconnectsOf('refused')).toBe(1);
    smsc.switches.set({ rejectBind: false });
    await bound(smsc, BOUND_AGAIN_WITHIN_MS);
    expect(await reconnectsOf('refused')).toBe(1);
  }, 40_000);

  it('binds at once when its row is corrected, even in standoff', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'mended', hosts, systemId: 'them' });
    await until('the bind is in standoff', CONVERGED_WITHIN_MS, async () => (await states('standoff')) === 1);
    await update(`system_id = 'us'`);
    await bound(smsc);
  });

  it('answers MOs with the retryable status while PostgreSQL is unreachable, and stays bound', async () => {
    const { smsc, hosts } = await smscAt();
    await gateway.bind({ name: 'outage', hosts });
    await bound(smsc);
    const [before] = smsc.links();
    const session = await gateway.create();
    await gateway.line.cut();
    expect(await smsc.sendMo(FROM, TO, gateway.textOf(session))).toBe(QUEUE_FULL);
    await gateway.line.mend();
    await until('the MO is stored', 10_000, async () => (await smsc.sendMo(FROM, TO, gateway.textOf(session))) === OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    expect(smsc.links()).toEqual([before]);
  });

  it('uses TLS with the CA of its row', async () => {
    const altNames = [{ type: 2 as const, value: 'smsc.example' }];
    const pems = await generate([{ name: 'commonName', value: 'smsc.example' }], {
      extensions: [{ name: 'subjectAltName', altNames }],
    });
    const server = smpp.createServer({ key: pems.private, cert: pems.cert });
    const boundSystemId = new Promise<string | undefined>((resolve) => {
      server.on('session', (session) => {
        session.on('error', () => undefined);
        session.on('unbind', (pdu) => session.send(pdu.response()));
        session.on('bind_transceiver', (pdu) => {
          session.send(pdu.response());
          resolve(pdu.system_id);
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const tls = { enabled: true, caCertificate: pems.cert, serverName: 'smsc.example' };
    await gateway.bind({ name: 'secure', hosts: [{ host: '127.0.0.1', port: server.address().port }], tls });
    expect(await boundSystemId).toBe('us');
    await until('the bind is bound', 2_000, async () => (await states('bound')) === 1);
    server.close();
  });
});
