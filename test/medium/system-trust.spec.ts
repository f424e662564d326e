import type { NewSystem } from '@countersign/carriers/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, LOOPBACK, PASSWORD, sms } from '../support/gateway-harness.js';
import { certificate, openTlsGateway, type Certificate } from '../support/tls-gateway.js';
import { until } from '../support/until.js';

const OK = 0;
const BIND_FAILED = 0x0d;

/** The status of a session after an MO with its token over this connection, and the fate of the MO. */
async function decisionOf(gateway: GatewayHarness, esme: Esme): Promise<readonly unknown[]> {
  const session = await gateway.create();
  expect((await esme.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
  return [await gateway.statusOf(session), (await gateway.messages()).at(-1)?.fate];
}
const TRUSTED = ['approved', 'matched'];
const NOT_TRUSTED = ['pending', 'untrusted'];

describe('a system trusted by its certificate', () => {
  let gateway: GatewayHarness;
  let server: Certificate;
  const clients = new Map<string, Certificate>();

  beforeAll(async () => {
    server = await certificate('gateway');
    clients.set('by common name', await certificate('north'));
    clients.set('by alternative name', await certificate('carrier 7', 'north'));
    clients.set('of another system', await certificate('south', 'south'));
    clients.set('of a longer name', await certificate('north.example', 'north.example'));
    gateway = await openTlsGateway(server, [...clients.values()]);
    await gateway.system({ systemId: 'north', allowedCidrs: [], tlsRequired: true });
    await gateway.system({ systemId: 'near', tlsRequired: true });
  });
  afterAll(() => gateway.close());

  const account = (systemId: string, client: string, password = PASSWORD) => ({
    port: gateway.ports.smppTls,
    systemId,
    password,
    ca: server.cert,
    connection: { ...clients.get(client) },
  });

  it.each(['by common name', 'by alternative name'])(
    'binds and approves with a certificate that names it %s',
    async (client) => {
      const esme = await gateway.esme('north', account('north', client));
      expect(await decisionOf(gateway, esme)).toEqual(TRUSTED);
      esme.destroy();
    },
  );

  it.each(['of another system', 'of a longer name'])(
    'does not bind with a certificate %s, and its password is not compared',
    async (client) => {
      const answers = await Promise.all(
        [PASSWORD, 'wrong'].map(async (password) => {
          const esme = await gateway.connectUnbound(account('north', client));
          return (await esme.bind(account('north', client, password))).command_status;
        }),
      );
      expect(answers).toEqual([BIND_FAILED, BIND_FAILED]);
      expect(await gateway.metric('countersign_smpp_refused_binds_total{refusal="wrong_password"')).toBe(0);
    },
  );

  it('does not bind without TLS', async () => {
    expect(await gateway.bindFrom('127.0.0.1', 'north')).toBe(BIND_FAILED);
  });

  it('needs no matching certificate when its address proves it', async () => {
    const esme = await gateway.esme('near', account('near', 'of another system'));
    expect(await decisionOf(gateway, esme)).toEqual(TRUSTED);
    esme.destroy();
  });

  it('is disconnected when its row requires a name that the certificate lacks', async () => {
    const esme = await gateway.esme('near', account('near', 'of another system'));
    await gateway.harness.database.query(`UPDATE smpp_systems SET allowed_cidrs = '{}' WHERE system_id = 'near'`);
    await esme.closed;
  });
});

describe('a system with trustedForMo whose row requires no proof', () => {
  let gateway: GatewayHarness;
  let server: Certificate;

  beforeAll(async () => {
    server = await certificate('gateway');
    gateway = await openTlsGateway(server, []);
  });
  afterAll(() => gateway.close());

  const setNetworks = (systemId: string, networks: readonly string[]): Promise<unknown> =>
    gateway.harness.database.query('UPDATE smpp_systems SET allowed_cidrs = $2 WHERE system_id = $1', [
      systemId,
      networks,
    ]);
  const withoutProof = (): Promise<number> => gateway.metric('countersign_smpp_systems_without_proof');

  it('is logged once and counted, until its networks are narrow: then its connections approve', async () => {
    const { systemId } = await gateway.system({ systemId: 'earlier', allowedCidrs: [] });
    const esme = await gateway.esme(systemId);
    await until('the system is counted', 5_000, async () => (await withoutProof()) === 1);
    const warnings = gateway.log.filter((line) => line.includes('"earlier"') && line.includes('although trustedForMo'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('/docs/a-carrier-calls#trusted-systems');
    await setNetworks(systemId, LOOPBACK);
    await until('the system is trusted', 5_000, async () => {
      const [status] = await decisionOf(gateway, esme);
      return status === 'approved';
    });
    expect(await withoutProof()).toBe(0);
    await setNetworks(systemId, []);
    await until('the system is not trusted any more', 5_000, async () => {
      const [status] = await decisionOf(gateway, esme);
      return status === 'pending';
    });
    esme.destroy();
  });

  it.each<[string, Partial<NewSystem>]>([
    ['from anywhere', { allowedCidrs: [] }],
    ['from a wide network', { allowedCidrs: ['127.0.0.0/15'] }],
    ['from a wide network beside its own', { allowedCidrs: [...LOOPBACK, '0.0.0.0/0'] }],
  ])('%s: binds, its MOs are stored and approve nothing', async (from, terms) => {
    const esme = await gateway.esme((await gateway.system({ systemId: from.slice(-15), ...terms })).systemId);
    expect(await decisionOf(gateway, esme)).toEqual(NOT_TRUSTED);
    esme.destroy();
  });

  it('is disconnected when its address is outside its new networks', async () => {
    const { systemId } = await gateway.system({ systemId: 'outside', allowedCidrs: [] });
    const esme = await gateway.esme(systemId);
    await setNetworks(systemId, ['192.0.2.0/24']);
    await esme.closed;
    expect(await gateway.bindFrom('127.0.0.1', systemId)).toBe(BIND_FAILED);
  });

  it('over TLS to a gateway without client CAs: binds, and approves nothing', async () => {
    const { systemId } = await gateway.system({ systemId: 'tls', allowedCidrs: [], tlsRequired: true });
    const esme = await gateway.esme(systemId, { port: gateway.ports.smppTls, ca: server.cert });
    expect(await decisionOf(gateway, esme)).toEqual(NOT_TRUSTED);
    esme.destroy();
  });
});
