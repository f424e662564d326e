import { isIP } from 'node:net';
import type { BindHost } from '@countersign/carriers';
import type { JsonValue } from '../../http/json-body.js';

export const MAX_HOSTS = 16;
const MAX_PORT = 65_535;

/** Labels of letters, digits, underscores and inner hyphens, the last one no number (RFC 1123, 2.1). */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?![0-9]+$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** A host name, or an IP address without brackets. */
export const isHost = (value: unknown): boolean =>
  typeof value === 'string' && (HOST_NAME.test(value) || isIP(value) !== 0);

export const isPort = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PORT;

const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = { host: isHost, port: isPort };

/** Where in a list of hosts the first fault is (`0.port`); null when there is none, undefined when it is no such list. */
export function hostsFault(value: unknown): string | null | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_HOSTS) return undefined;
  for (const [at, host] of value.entries()) {
    const fault = hostFault(host);
    if (fault !== null) return fault === '' ? String(at) : `${at}.${fault}`;
  }
  return null;
}

/** The member that offends, or none; empty when it is no object. */
function hostFault(host: unknown): string | null {
  if (!(host instanceof Map)) return '';
  const sent = host as ReadonlyMap<string, unknown>;
  for (const [name, isRight] of Object.entries(MEMBERS)) if (!isRight(sent.get(name))) return name;
  return [...sent.keys()].find((name) => !Object.keys(MEMBERS).includes(name)) ?? null;
}

/** Hosts without a fault, as they are stored. */
export function hostsOf(sent: readonly JsonValue[]): BindHost[] {
  return sent.flatMap((each) => {
    const host = each instanceof Map ? (each as ReadonlyMap<string, unknown>).get('host') : undefined;
    const port = each instanceof Map ? (each as ReadonlyMap<string, unknown>).get('port') : undefined;
    return typeof host === 'string' && typeof port === 'number' ? [{ host, port }] : [];
  });
}
