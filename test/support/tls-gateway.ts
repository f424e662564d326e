import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { generate } from 'selfsigned';
import { GatewayHarness } from './gateway-harness.js';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** SAN types of `selfsigned`. */
const DNS = 2;
const IP = 7;

/** A self-signed certificate for 127.0.0.1, and for the DNS name if there is one. */
export async function certificate(commonName: string, dnsName?: string): Promise<Certificate> {
  const altNames = [
    { type: IP, ip: '127.0.0.1' } as const,
    ...(dnsName === undefined ? [] : [{ type: DNS, value: dnsName } as const]),
  ];
  const pems = await generate([{ name: 'commonName', value: commonName }], {
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { cert: pems.cert, key: pems.private };
}

/** A gateway with a TLS port; with CAs it requires client certificates. */
export async function openTlsGateway(
  server: Certificate,
  clientCas: readonly Certificate[] = [],
): Promise<GatewayHarness> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-tls-'));
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  try {
    return await GatewayHarness.open({
      SMPP_TLS_CERT_FILE: file('cert.pem', server.cert),
      SMPP_TLS_KEY_FILE: file('key.pem', server.key),
      ...(clientCas.length === 0
        ? {}
        : { SMPP_TLS_CLIENT_CA_FILE: file('clients.pem', clientCas.map(({ cert }) => cert).join('\n')) }),
    });
  } finally {
    // The gateway has read the files at its start.
    rmSync(folder, { recursive: true });
  }
}
