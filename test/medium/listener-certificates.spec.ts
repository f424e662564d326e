import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayHarness, PASSWORD } from '../support/gateway-harness.js';

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

let gateway: GatewayHarness;
let folder: string;
let server: Certificate;
let client: Certificate;
let stranger: Certificate;

async function certificate(commonName: string): Promise<Certificate> {
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }];
  const pems = await generate([{ name: 'commonName', value: commonName }], {
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { cert: pems.cert, key: pems.private };
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-tls-'));
  [server, client, stranger] = [
    await certificate('gateway'),
    await certificate('aggregator'),
    await certificate('stranger'),
  ];
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  gateway = await GatewayHarness.open({
    SMPP_TLS_CERT_FILE: file('cert.pem', server.cert),
    SMPP_TLS_KEY_FILE: file('key.pem', server.key),
    SMPP_TLS_CLIENT_CA_FILE: file('clients.pem', client.cert),
  });
  await gateway.system({ systemId: 'open' });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

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
