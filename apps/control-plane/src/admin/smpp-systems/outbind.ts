import { isDeepStrictEqual } from 'node:util';
import type { CarrierStore, SmppSystem } from '@countersign/carriers/config';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { JsonObject } from '../../http/json-body.js';
import { isHost, isPort } from '../binds/hosts.js';
import { clientKeyFault, clientKeyOf, tlsFault, tlsOf } from '../binds/tls.js';
import { memberFault } from '../crud/fields.js';
import { isPassword, isSystemId } from '../crud/smpp-fields.js';

type SystemOutbind = NonNullable<SmppSystem['outbind']>;
type OutbindSecrets = Pick<
  NonNullable<Parameters<CarrierStore['updateSystem']>[2]>,
  'outbindPassword' | 'outbindClientKey'
>;

/** The faulty member of `outbind`. */
export const outbindFault = memberFault({
  host: isHost,
  port: isPort,
  tls: (value) => value === undefined || tlsFault(value) === null,
  systemId: isSystemId,
  password: (value) => value === undefined || isPassword(value),
});

/** The stored form of an `outbind` without a fault; its secrets are stored apart, sealed. */
export function outbindOf(sent: ReadonlyMap<string, unknown>): SystemOutbind {
  const [host, port, systemId] = ['host', 'port', 'systemId'].map((name) => sent.get(name));
  return {
    host: typeof host === 'string' ? host : '',
    port: typeof port === 'number' ? port : 0,
    tls: tlsOf(tlsIn(sent)),
    systemId: typeof systemId === 'string' ? systemId : '',
  };
}

/**
 * The secrets that an `outbind` changes. They are kept while its host, port and tls stay: otherwise they could be sent to a
 * host of the engineer's choice.
 *
 * @param stored null for none
 */
export function outbindSecrets(
  sent: JsonObject | null | undefined,
  stored: SystemOutbind | null,
): Outcome<OutbindSecrets> {
  if (sent === undefined) return succeed({});
  if (sent === null) return succeed({ outbindPassword: null, outbindClientKey: null });
  const password = sent.get('password');
  const clientKey = clientKeyOf(tlsIn(sent));
  const isSamePeer = stored !== null && isDeepStrictEqual(peerOf(outbindOf(sent)), peerOf(stored));
  const changed = typeof password === 'string' ? { outbindPassword: password } : {};
  if (typeof password !== 'string' && !isSamePeer)
    return refused(
      'outbind.password',
      'outbind.password is required with a new outbind, or another host, port or tls.',
    );
  if (isSamePeer && clientKey === null) return succeed(changed);
  const fault = clientKeyFault(tlsOf(tlsIn(sent)).clientCertificate, clientKey);
  return fault === null
    ? succeed({ ...changed, outbindClientKey: clientKey })
    : refused(`outbind.${fault.field}`, `outbind.${fault.message}`);
}

const tlsIn = (sent: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> => {
  const tls = sent.get('tls');
  return tls instanceof Map ? (tls as ReadonlyMap<string, unknown>) : new Map();
};

const peerOf = ({ host, port, tls }: SystemOutbind): unknown => ({ host, port, tls });

const refused = (field: string, message: string): ReturnType<typeof refuse> =>
  refuse('VALIDATION_ERROR', { field, message });
