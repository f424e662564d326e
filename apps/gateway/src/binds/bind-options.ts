import { isDeepStrictEqual } from 'node:util';
import type { Bind } from '@countersign/carriers/config';
import type { BindCall, LinkOptions } from '@countersign/smpp/link';

/** Time limit from the connection to the bind response. */
const SESSION_INIT_MS = 10_000;
/** Time limit from the first octet of a PDU to its last. */
const PDU_READ_MS = 10_000;
/** No inactivity timeout: a bind without traffic is normal, and enquire_link detects a dead one. */
const INACTIVITY_OFF = 0;
/** Maximum messages of one link being stored; at the limit the socket is not read, and TCP slows the carrier. */
const MAX_INBOUND = 1_000;
const MS_PER_SECOND = 1_000;

const INTERFACE_VERSIONS = { '3.3': 0x33, '3.4': 0x34, '5.0': 0x50 } as const;

/** Link options of a bind row. */
export function linkOptionsOf(bind: Bind): Omit<LinkOptions, 'handlers'> {
  return {
    endpoint: { role: 'esme', interfaceVersion: INTERFACE_VERSIONS[bind.interfaceVersion] },
    timers: {
      sessionInitMs: SESSION_INIT_MS,
      pduReadMs: PDU_READ_MS,
      enquireLinkMs: bind.enquireLinkSeconds * MS_PER_SECOND,
      responseMs: bind.responseTimeoutSeconds * MS_PER_SECOND,
      inactivityMs: INACTIVITY_OFF,
    },
    limits: { window: bind.sendWindow, maxInbound: MAX_INBOUND },
  };
}

export function bindCallOf(bind: Bind, password: string): BindCall {
  return {
    bindType: bind.bindType,
    systemId: bind.systemId,
    password,
    systemType: bind.systemType,
    addressRange: bind.addressRange,
  };
}

/** The passwords of a row in clear, to compare them. */
export type PasswordsOf = (bind: Bind) => readonly (string | null)[];

/**
 * Whether both rows need the same connection. Message settings (carrier, trust, alphabet, statuses, window, rate) can change
 * without a new link.
 */
export function isSameConnection(a: Bind, b: Bind, passwordsOf: PasswordsOf): boolean {
  return JSON.stringify(connectionOf(a)) === JSON.stringify(connectionOf(b)) && haveSamePasswords(a, b, passwordsOf);
}

/**
 * Whether both rows are of the same peer, by its addresses, certificates and passwords. Other terms of a connection, such as its
 * timers, say nothing about who is at its other end.
 */
export const isSamePeer = (a: Bind, b: Bind, passwordsOf: PasswordsOf): boolean =>
  JSON.stringify([peerOf(a), a.systemId]) === JSON.stringify([peerOf(b), b.systemId]) &&
  haveSamePasswords(a, b, passwordsOf);

/** A rotation of the master key seals the same passwords again, as other octets. */
function haveSamePasswords(a: Bind, b: Bind, passwordsOf: PasswordsOf): boolean {
  const sealedOf = (bind: Bind): unknown => [bind.passwordSealed, bind.outbindPasswordSealed];
  return isDeepStrictEqual(sealedOf(a), sealedOf(b)) || isDeepStrictEqual(passwordsOf(a), passwordsOf(b));
}

function connectionOf(bind: Bind): unknown {
  const { endpoint, timers } = linkOptionsOf(bind);
  return [peerOf(bind), bindCallOf(bind, ''), timers, endpoint, bind.generation];
}

/** With whom it is connected, and how; without passwords. */
function peerOf({ hosts, tls, outbind }: Bind): unknown {
  const { enabled, caCertificate, serverName, clientCertificate } = tls;
  // Hosts and certificates are those of connections that the gateway opens.
  if (outbind !== null) return [outbind.systemId, outbind.allowedCidrs, enabled];
  const names = hosts.map(({ host, port }) => [host, port]);
  // A key that fits the same certificate is the same key.
  return [names, enabled ? [caCertificate, serverName, clientCertificate] : null];
}
