import { isIP } from 'node:net';
import type { BindHost } from '@countersign/carriers/config';
import type { JsonValue } from '../../http/json-body.js';
import { isCloudService } from '../../targets/address-ranges.js';
import { isWholeNumber, memberFault } from '../crud/fields.js';

export const MAX_HOSTS = 16;
const MAX_PORT = 65_535;

/** Labels of letters, digits, underscores and inner hyphens, the last one not numeric (RFC 1123, 2.1). */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?![0-9]+$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** A host name, or an IP address without brackets at which no cloud serves credentials. */
export const isHost = (value: unknown): boolean =>
  typeof value === 'string' && (HOST_NAME.test(value) || (isIP(value) !== 0 && !isCloudService(value)));

export const isPort = isWholeNumber(1, MAX_PORT);

const hostFault = memberFault({ host: isHost, port: isPort });

/**
 * The path of the first fault in a list of hosts (`0.port`); null when there is none, undefined when the value is no
 * such list.
 */
export function hostsFault(value: unknown): string | null | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_HOSTS) return undefined;
  for (const [at, host] of value.entries()) {
    const fault = hostFault(host);
    if (fault !== null) return fault === undefined ? String(at) : `${at}.${fault}`;
  }
  return null;
}

/** The stored form of hosts without a fault. */
export function hostsOf(sent: readonly JsonValue[]): BindHost[] {
  return sent.flatMap((each) => {
    const host = each instanceof Map ? (each as ReadonlyMap<string, unknown>).get('host') : undefined;
    const port = each instanceof Map ? (each as ReadonlyMap<string, unknown>).get('port') : undefined;
    return typeof host === 'string' && typeof port === 'number' ? [{ host, port }] : [];
  });
}
