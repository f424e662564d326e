import { X509Certificate } from 'node:crypto';
import type { BindTls } from '@countersign/carriers';
import { isHost } from './hosts.js';

export const MAX_CERTIFICATE_CHARACTERS = 65_536;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  enabled: (value) => typeof value === 'boolean',
  caCertificate: (value) => value === undefined || isCertificates(value),
  serverName: (value) => value === undefined || isHost(value),
};

/** The member of `tls`, as it was sent, that offends; null when none does, undefined when it is no object. */
export function tlsFault(value: unknown): string | null | undefined {
  if (!(value instanceof Map)) return undefined;
  const sent = value as ReadonlyMap<string, unknown>;
  for (const [name, isRight] of Object.entries(MEMBERS)) if (!isRight(sent.get(name))) return name;
  return [...sent.keys()].find((name) => !Object.keys(MEMBERS).includes(name)) ?? null;
}

/** What is without a fault, as it is stored. */
export function tlsOf(sent: ReadonlyMap<string, unknown>): BindTls {
  const caCertificate = sent.get('caCertificate');
  const serverName = sent.get('serverName');
  return {
    enabled: sent.get('enabled') === true,
    ...(typeof caCertificate === 'string' ? { caCertificate } : {}),
    ...(typeof serverName === 'string' ? { serverName } : {}),
  };
}

/** One certificate in PEM or several, each of which can be read. */
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
