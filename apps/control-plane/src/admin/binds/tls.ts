import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { BindTls } from '@countersign/carriers/config';
import { memberFault } from '../crud/fields.js';
import { isHost } from './hosts.js';

export const MAX_CERTIFICATE_CHARACTERS = 65_536;
export const MAX_KEY_CHARACTERS = 16_384;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The faulty member of `tls`. */
export const tlsFault = memberFault({
  enabled: (value) => typeof value === 'boolean',
  caCertificate: (value) => value === undefined || isCertificates(value),
  serverName: (value) => value === undefined || isHost(value),
  clientCertificate: (value) => value === undefined || isCertificates(value),
  clientKey: (value) => value === undefined || (typeof value === 'string' && privateKeyOf(value) !== null),
});

/** The stored form of a `tls` without a fault; its key is stored apart, sealed. */
export function tlsOf(sent: ReadonlyMap<string, unknown>): BindTls {
  const caCertificate = sent.get('caCertificate');
  const serverName = sent.get('serverName');
  const clientCertificate = sent.get('clientCertificate');
  return {
    enabled: sent.get('enabled') === true,
    ...(typeof caCertificate === 'string' ? { caCertificate } : {}),
    ...(typeof serverName === 'string' ? { serverName } : {}),
    ...(typeof clientCertificate === 'string' ? { clientCertificate } : {}),
  };
}

/** The key in a `tls` without a fault; null for none. */
export function clientKeyOf(sent: ReadonlyMap<string, unknown>): string | null {
  const key = sent.get('clientKey');
  return typeof key === 'string' ? key : null;
}

/** Whether a client certificate and its key do not belong together, and the field at fault; null if they do. */
export function clientKeyFault(
  certificate: string | undefined,
  clientKey: string | null,
): { readonly field: string; readonly message: string } | null {
  if (certificate === undefined)
    return clientKey === null ? null : fault('clientCertificate', 'is required with tls.clientKey');
  const key = clientKey === null ? null : privateKeyOf(clientKey);
  if (key === null) return fault('clientKey', 'is required with a new tls.clientCertificate');
  // The first certificate is that of the key; the others are its issuers (RFC 8446, 4.4.2).
  return new X509Certificate(certificate).checkPrivateKey(key)
    ? null
    : fault('clientKey', 'must be the key of the first certificate in tls.clientCertificate');
}

const fault = (member: string, what: string) => ({ field: `tls.${member}`, message: `tls.${member} ${what}.` });

/** A readable PEM key without a passphrase; null for any other text. */
function privateKeyOf(pem: string): KeyObject | null {
  if (pem.length > MAX_KEY_CHARACTERS) return null;
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return null;
  }
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
