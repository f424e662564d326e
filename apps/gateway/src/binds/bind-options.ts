import type { Bind } from '@countersign/carriers/config';
import type { BindCall, LinkOptions } from '@countersign/smpp/link';

/** From the connection to the answer of the bind. */
const SESSION_INIT_MS = 10_000;
/** From the first octet of a PDU to its last. */
const PDU_READ_MS = 10_000;
/** A bind without traffic is normal: enquire_link tells whether it lives. */
const INACTIVITY_OFF = 0;
/** Messages of one link that are being stored; beyond it the socket is not read, and TCP slows the carrier. */
const MAX_INBOUND = 1_000;
const MS_PER_SECOND = 1_000;

const INTERFACE_VERSIONS = { '3.3': 0x33, '3.4': 0x34, '5.0': 0x50 } as const;

/** What a row says of its link. */
export function linkOptionsOf(
  bind: Bind,
): Pick<LinkOptions, 'role' | 'timers' | 'window' | 'maxInbound' | 'interfaceVersion'> {
  return {
    role: 'esme',
    timers: {
      sessionInitMs: SESSION_INIT_MS,
      pduReadMs: PDU_READ_MS,
      enquireLinkMs: bind.enquireLinkSeconds * MS_PER_SECOND,
      responseMs: bind.responseTimeoutSeconds * MS_PER_SECOND,
      inactivityMs: INACTIVITY_OFF,
    },
    window: bind.sendWindow,
    maxInbound: MAX_INBOUND,
    interfaceVersion: INTERFACE_VERSIONS[bind.interfaceVersion],
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

/**
 * Would both rows make the same connection, and does neither ask for another? What a row says of messages (carrier,
 * trust, alphabet, statuses, window, rate) can change under a link that stays.
 */
export function isSameConnection(a: Bind, b: Bind): boolean {
  return JSON.stringify(connectionOf(a)) === JSON.stringify(connectionOf(b));
}

function connectionOf(bind: Bind): unknown {
  const { timers, interfaceVersion } = linkOptionsOf(bind);
  const hosts = bind.hosts.map(({ host, port }) => [host, port]);
  const { enabled, caCertificate, serverName } = bind.tls;
  const tls = enabled ? [caCertificate, serverName] : null;
  const call = bindCallOf(bind, bind.passwordSealed.toString('base64'));
  return [hosts, tls, call, timers, interfaceVersion, bind.generation];
}
