import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayHarness, PASSWORD } from '../support/gateway-harness.js';
import { certificate, openTlsGateway, type Certificate } from '../support/tls-gateway.js';

let gateway: GatewayHarness;
let server: Certificate;
let client: Certificate;
let stranger: Certificate;

beforeAll(async () => {
  [server, client, stranger] = [
    await certificate('gateway'),
    await certificate('aggregator'),
    await certificate('stranger'),
  ];
  gateway = await openTlsGateway(server, [client]);
  await gateway.system({ systemId: 'open' });
});
afterAll(() => gateway.close());

const bound = async (connection: Partial<Certificate>): Promise<boolean> => {
  try {
    const esme = await gateway.connectUnbound({ port: gateway.ports.smppTls, ca: server.cert, connection });
    const answer = await esme.bind({ port: gateway.ports.smppTls, systemId: 'open', password: PASSWORD });
    return answer.command_status === 0;
  } catch {
    return false;
  }
};

describe('a TLS port that requires client certificates', () => {
  it('accepts only connections with a certificate of the configured CA', async () => {
    expect(await bound(client)).toBe(true);
    expect(await bound({})).toBe(false);
    expect(await bound(stranger)).toBe(false);
  });

  it('does not affect the plain port', async () => {
    const esme = await gateway.esme('open');
    expect((await esme.enquireLink()).command_status).toBe(0);
    esme.destroy();
  });
});
