import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Agent, buildConnector, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { MAX_IN_FLIGHT_PER_HOST } from './per-host.scheduler.js';
import { LargeHandshakes } from './large-handshakes.js';
import { isLocalName, nameLookup, type LookupAll } from './name-lookup.js';
import { literalAddress, type TargetRules } from '../targets/target.js';

const HTTPS_PORT = '443';
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Connections of the process, in use and idle, from which on a connection is closed after its response: any number of hosts may
 * be named, and each idle connection holds as much as one in use.
 */
const MAX_KEPT_CONNECTIONS = 256;
/** How long an idle connection is kept, whatever the receiver asks for. */
const KEEP_ALIVE_MS = 10_000;
const MAX_REPLY_HEAD_OCTETS = 16 * 1024;
const NOT_PUBLIC = 'an address of the host is not public';

/** Target rules refuse the address. Not a connection error: a retry would change nothing. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** The egress proxy cannot be reached. Not an error of the target, which received nothing. */
export class ProxyAway extends Error {
  override readonly name = 'ProxyAway';

  constructor(override readonly cause: Error) {
    super('the egress proxy cannot be reached');
  }
}

/** Which idle connections are kept. */
export interface IdleLimits {
  /** How long, in milliseconds. */
  readonly keepAliveMs: number;
  /** With this many connections, in use and idle, a connection is closed after its response. */
  readonly maxKept: number;
}

const IDLE_LIMITS: IdleLimits = { keepAliveMs: KEEP_ALIVE_MS, maxKept: MAX_KEPT_CONNECTIONS };

/**
 * The HTTP client of all webhooks. Addresses are checked at connect, so that a name that changes between a look-up and the
 * connection (DNS rebinding) gains nothing: a literal before the connection (Node does not look literals up), and all addresses
 * of a name, where one refused address refuses the name. Names of local networks are refused without a look-up, unless the
 * operator allows such networks. With an egress proxy, the proxy looks names up and checks addresses.
 */
export function guardedAgent(
  rules: TargetRules,
  egressProxy: string | null,
  resolve = nameLookup(),
  { keepAliveMs, maxKept } = IDLE_LIMITS,
): Dispatcher {
  const limits = {
    connections: MAX_IN_FLIGHT_PER_HOST,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    // Without it a receiver's Keep-Alive header extends the time to 10 minutes.
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: MAX_REPLY_HEAD_OCTETS,
  };
  const open = new OpenConnections();
  const agent =
    egressProxy === null
      ? new Agent({ ...limits, connect: open.counted(guardedConnector(rules, resolve)) })
      : proxyAgent(egressProxy, limits, open);
  return agent.compose(
    (dispatch) => (options, handler) => dispatch(open.count < maxKept ? options : { ...options, reset: true }, handler),
  );
}

/** Counts connections from their attempt until they are closed. */
class OpenConnections {
  count = 0;

  counted(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      this.count += 1;
      connect(options, (...[error, socket]) => {
        if (error === null) {
          socket.once('close', () => (this.count -= 1));
          callback(null, socket);
        } else {
          this.count -= 1;
          callback(error, null);
        }
      });
    };
  }
}

/** Each step has its own connect timeout: the connection to the proxy, the tunnel, and TLS through it. */
function proxyAgent(uri: string, limits: Agent.Options, open: OpenConnections): Dispatcher {
  const connect = open.counted(buildConnector({ timeout: CONNECT_TIMEOUT_MS }));
  const toProxy: buildConnector.connector = (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyAway(error), null);
    });
  };
  return new ProxyAgent({
    ...limits,
    uri,
    requestTls: { timeout: CONNECT_TIMEOUT_MS },
    clientFactory: (origin) => new Pool(origin, { connect: toProxy, headersTimeout: CONNECT_TIMEOUT_MS }),
  });
}

function guardedConnector(rules: TargetRules, resolve: LookupAll): buildConnector.connector {
  const lookup = guardedLookup(rules, 'http:', resolve);
  const connectors = new Map([
    ['https:', tlsConnector(guardedLookup(rules, 'https:', resolve))],
    ['http:', buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup })],
  ]);
  return (options, callback) => {
    const literal = literalAddress(options.hostname);
    const connect = connectors.get(options.protocol);
    if (connect === undefined || (literal !== null && !rules.admits(literal, options.protocol))) {
      callback(new TargetRefused('the address is not public'), null);
    } else if (literal === null && !rules.allowsNetworks && isLocalName(options.hostname)) {
      // Not looked up: the result would say which names the network of the operator has.
      callback(new TargetRefused(NOT_PUBLIC), null);
    } else {
      connect(options, callback);
    }
  };
}

/**
 * TLS over a TCP socket of its own, which counts the octets of the handshake: a TLS socket counts those within TLS only. One
 * timeout for both.
 */
function tlsConnector(lookup: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup });
  // One context for all connections, and no sessions kept: 20 KB less for each.
  const secure = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    maxCachedSessions: 0,
    secureContext: createSecureContext(),
  });
  const handshakes = new LargeHandshakes();
  return (options, callback) => {
    const endsMs = performance.now() + CONNECT_TIMEOUT_MS;
    connect({ ...options, protocol: 'http:', port: options.port || HTTPS_PORT }, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const handshake = handshakes.watch(socket, endsMs - performance.now(), (failure) => callback(failure, null));
      secure({ ...options, httpSocket: socket }, (...[refused, secured]) => {
        if (!handshake.end(secured)) return;
        if (refused === null) callback(null, secured);
        else callback(refused, null);
      });
    });
  };
}

function guardedLookup(rules: TargetRules, protocol: string, resolve: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses;
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${hostname} has no address`), '', 0);
      } else if (!addresses.every(({ address }) => rules.admits(address, protocol))) {
        callback(new TargetRefused(NOT_PUBLIC), '', 0);
      } else if (options.all === true) {
        callback(null, [...addresses]);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
