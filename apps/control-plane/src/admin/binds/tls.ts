import { X509Certificate } from 'node:crypto';
import type { BindTls } from '@countersign/carriers/config';
import { memberFault } from '../crud/fields.js';
import { isHost } from './hosts.js';

export const MAX_CERTIFICATE_CHARACTERS = 65_536;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The faulty member of `tls`. */
export const tlsFault = memberFault({
  enabled: (value) => typeof value === 'boolean',
  caCertificate: (value) => value === undefined || isCertificates(value),
  serverName: (value) => value === undefined || isHost(value),
});

/** The stored form of a `tls` without a fault. */
export function tlsOf(sent: ReadonlyMap<string, unknown>): BindTls {
  const caCertificate = sent.get('caCertificate');
  const serverName = sent.get('serverName');
  return {
    enabled: sent.get('enabled') === true,
    ...(typeof caCertificate === 'string' ? { caCertificate } : {}),
    ...(typeof serverName === 'string' ? { serverName } : {}),
  };
}

/** One or several readable PEM certificates. */
function isCertificates(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_CERTIFICATE_CHARACTERS) return false;
  const certificates = value.match(CERTIFICATE) ?? [];
  return certificates.length > 0 && certificates.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
