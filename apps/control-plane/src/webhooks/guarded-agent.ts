import { Socket, type LookupFunction } from 'node:net';
import { AGREED_TLS } from '@countersign/tls';
import { Agent, buildConnector, errors, Pool, type Dispatcher } from 'undici';
import { MAX_IN_FLIGHT_PER_HOST } from './per-host.scheduler.js';
import { isLocalName, nameLookup, type LookupAll } from './name-lookup.js';
import { secureReceiver } from './receiver-tls.js';
import { boundReplyHead } from './reply-head.js';
import { literalAddress, type TargetRules } from '../targets/target.js';

const HTTPS_PORT = '443';
const HTTP_PORT = '80';
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
/** Addresses of a name that are judged: all of them, or none; an answer over TCP may have thousands. */
const MAX_ADDRESSES = 32;
/** Of each family, those that a connection is attempted to, one after the other. */
const MAX_ATTEMPTED = 2;

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
  const connect =
    egressProxy === null ? open.counted(guardedConnector(rules, resolve)) : tunnelConnector(new URL(egressProxy), open);
  const agent = new Agent({ ...limits, connect: withBoundReplies(connect) });
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

/** Bounds what a connection receives before the head of a response is complete. */
function withBoundReplies(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) {
        boundReplyHead(socket);
        callback(null, socket);
      } else {
        callback(error, null);
      }
    });
}

/** Through an egress proxy. Each step has its own connect timeout: the connection to the proxy, the tunnel, and TLS through it. */
function tunnelConnector(proxy: URL, open: OpenConnections): buildConnector.connector {
  const connect = open.counted(buildConnector({ ...AGREED_TLS, timeout: CONNECT_TIMEOUT_MS }));
  const toProxy: buildConnector.connector = (options, callback) => {
    // The name in the certificate of the proxy, not in that of the receiver, which undici takes from the Host header.
    connect({ ...options, servername: '' }, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new ProxyAway(error), null);
    });
  };
  const pool = new Pool(proxy.origin, { connect: toProxy, headersTimeout: CONNECT_TIMEOUT_MS });
  return ({ protocol, hostname, host = hostname, port }, callback) => {
    const isSecure = protocol === 'https:';
    const target = port === '' ? `${host}:${isSecure ? HTTPS_PORT : HTTP_PORT}` : host;
    const onOpened = ({ statusCode, socket }: Dispatcher.ConnectData): void => {
      if (statusCode !== 200 || !(socket instanceof Socket)) {
        socket.on('error', () => undefined).destroy();
        callback(new errors.RequestAbortedError(`the egress proxy answered CONNECT with ${statusCode}`), null);
      } else if (isSecure) {
        secureReceiver(socket, hostname, CONNECT_TIMEOUT_MS, callback);
      } else {
        callback(null, socket);
      }
    };
    const headers = { host, 'proxy-connection': 'keep-alive', ...authorizationOf(proxy) };
    pool.connect({ path: target, headers }).then(onOpened, (error: unknown) => callback(asError(error), null));
  };
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('no tunnel through the egress proxy', { cause: thrown });

/** The credentials in the URL of a proxy, as a header (RFC 7617). */
function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' || password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
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

/** One timeout for the TCP connection and TLS. */
function tlsConnector(lookup: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup });
  return (options, callback) => {
    const endsMs = performance.now() + CONNECT_TIMEOUT_MS;
    connect({ ...options, protocol: 'http:', port: options.port || HTTPS_PORT }, (...[error, socket]) => {
      if (error === null) secureReceiver(socket, options.hostname, endsMs - performance.now(), callback);
      else callback(error, null);
    });
  };
}

function guardedLookup(rules: TargetRules, protocol: string, resolve: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses;
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${hostname} has no address`), '', 0);
      } else if (addresses.length > MAX_ADDRESSES) {
        callback(new TargetRefused(`the host has more than ${MAX_ADDRESSES} addresses`), '', 0);
      } else if (!addresses.every(({ address }) => rules.admits(address, protocol))) {
        callback(new TargetRefused(NOT_PUBLIC), '', 0);
      } else if (options.all === true) {
        callback(
          null,
          [4, 6].flatMap((wanted) => addresses.filter(({ family }) => family === wanted).slice(0, MAX_ATTEMPTED)),
        );
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
