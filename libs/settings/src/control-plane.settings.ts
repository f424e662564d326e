import { DaemonSettings } from './daemon.settings.js';
import { isGuardedUrl, repeatedKeyFault } from './readings.js';
import type { SettingFault } from './settings-error.js';
import {
  AdminKey,
  BaseUrl,
  Cidrs,
  ConnectionUrl,
  Development,
  EntropyKeys,
  FilePath,
  Flag,
  Host,
  OneOf,
  Port,
  Secret,
  ServiceUrl,
  Text,
  WholeNumber,
} from './variables.js';
import { permissiveWarnings } from './permissive-settings.js';
import { sharedKeyFaults, sharedKeyWarnings } from './shared-keys.js';
import { weakAdminKeyFaults, weakKeyFaults } from './weak-keys.js';
import { coverWholeSpace, isWideRange } from './whole-space.js';

/** How clients reach the control plane: over its own TLS 1.3, or over plain HTTP behind a TLS proxy. */
export type TlsSettings =
  | { readonly mode: 'direct'; readonly certFile: string; readonly keyFile: string }
  | { readonly mode: 'proxy'; readonly trustedProxies: readonly string[] };

/** The registration of the console at an OpenID provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** For people. */
  readonly name: string;
}

/** The limits of the toll-fraud guard; each is a variable below, where its meaning is documented. */
export interface OtpLimits {
  readonly phonePerHour: number;
  readonly phonePerDay: number;
  readonly breakerSends: number;
  readonly breakerPercent: number;
  readonly breakerBlockSeconds: number;
}

/** A load balancer that checks every two seconds notices within two checks. */
const SHUTDOWN_DELAY_SECONDS = 5;

/** Settings of the control plane. Entropy and admin keys have no default, and no other process gets them. */
export class ControlPlaneSettings extends DaemonSettings {
  /** By version, from 1; new brands use the highest. */
  @EntropyKeys('COUNTERSIGN_ENTROPY_KEYS')
  readonly entropyKeys!: ReadonlyMap<number, Buffer>;

  @AdminKey('COUNTERSIGN_ADMIN_KEY')
  readonly adminKey!: string;

  /** Whether the one-time link of `npm start` signs in to the console. */
  @Development('NODE_ENV')
  readonly development: boolean = false;

  @Host('CONTROL_PLANE_HOST')
  readonly host: string = '127.0.0.1';

  @Port('CONTROL_PLANE_PORT')
  readonly port: number = 8443;

  @Port('CONTROL_PLANE_OPS_PORT')
  readonly opsPort: number = 9464;

  /** How long a stop serves on, unready, so that load balancers notice; by default 5 in production, else 0. */
  @WholeNumber('SHUTDOWN_DELAY_SECONDS', 0, 60)
  readonly configuredShutdownDelaySeconds: number | null = null;

  @BaseUrl('PUBLIC_BASE_URL')
  readonly configuredBaseUrl: string | null = null;

  @OneOf('TLS_MODE', ['direct', 'proxy'])
  readonly tlsMode: 'direct' | 'proxy' = 'direct';

  @FilePath('TLS_CERT_FILE')
  readonly tlsCertFile: string | null = null;

  @FilePath('TLS_KEY_FILE')
  readonly tlsKeyFile: string | null = null;

  @Cidrs('TRUSTED_PROXIES')
  readonly trustedProxies: readonly string[] = [];

  /** Client addresses from which admin keys are accepted; empty for any. */
  @Cidrs('ADMIN_ALLOWED_CIDRS')
  readonly adminAllowedCidrs: readonly string[] = [];

  /** The OpenID provider with which members of the installation sign in to the console. */
  @ServiceUrl('CONSOLE_OIDC_ISSUER')
  readonly consoleOidcIssuer: string | null = null;

  @Text('CONSOLE_OIDC_CLIENT_ID')
  readonly consoleOidcClientId: string | null = null;

  @Secret('CONSOLE_OIDC_CLIENT_SECRET', 16, 512)
  readonly consoleOidcClientSecret: string | null = null;

  /** The provider's name on the page of the sign-in; its host by default. */
  @Text('CONSOLE_OIDC_NAME')
  readonly consoleOidcName: string | null = null;

  /** Whether members of the installation and holders of admin keys also verify their phone when they sign in to the console. */
  @Flag('CONSOLE_SECOND_STEP')
  readonly consoleSecondStep: boolean = false;

  @Cidrs('WEBHOOK_ALLOWED_CIDRS')
  readonly webhookAllowedCidrs: readonly string[] = [];

  @Flag('WEBHOOK_ALLOW_HTTP')
  readonly webhookAllowHttp: boolean = false;

  @ConnectionUrl('WEBHOOK_EGRESS_PROXY', ['http:', 'https:'])
  readonly webhookEgressProxy: string | null = null;

  /** Maximum webhooks per second to one host, per control plane; with a burst of one second's worth. */
  @WholeNumber('WEBHOOK_HOST_PER_SECOND', 1, 1_000_000)
  readonly webhookHostPerSecond: number = 1_000;

  /**
   * Maximum number of live sessions per phone and account, counted by each control plane; 0: no limit. With a limit,
   * a person who can open sessions on a caller's page can block a phone by opening that many.
   */
  @WholeNumber('LIVE_SESSIONS_PER_PHONE', 0, 1_000)
  readonly liveSessionsPerPhone: number = 0;

  /**
   * Idempotency keys of one account and mode at a time. Only 1 in 64 is counted, so a lower quota could not be
   * measured.
   */
  @WholeNumber('IDEMPOTENCY_KEYS_PER_ACCOUNT', 10_000, 1_000_000_000)
  readonly idempotencyKeysPerAccount: number = 2_000_000;

  /** Maximum WebSockets of one process; the last fifth is reserved so that no single account can use all of them. */
  @WholeNumber('REALTIME_CONNECTIONS', 15, 15_000)
  readonly realtimeConnections: number = 15_000;

  /** How long a create waits for the delivery report of a card that the platform has accepted. */
  @WholeNumber('RCS_DELIVERY_WAIT_MS', 0, 8_000)
  readonly rcsDeliveryWaitMs: number = 3_000;

  /** How long no card is sent to a phone that an agent could not reach; 0: every session tries. */
  @WholeNumber('RCS_UNREACHABLE_SECONDS', 0, 86_400)
  readonly rcsUnreachableSeconds: number = 300;

  /** Codes of one account to one phone, in a window that begins with the first; twice as many over all accounts. */
  @WholeNumber('OTP_PHONE_PER_HOUR', 1, 1_000_000)
  readonly otpPhonePerHour: number = 5;

  @WholeNumber('OTP_PHONE_PER_DAY', 1, 1_000_000)
  readonly otpPhonePerDay: number = 10;

  /** From this number of codes per hour, or from the account's floor if larger, a block of numbers must convert … */
  @WholeNumber('OTP_BREAKER_SENDS', 1, 1_000_000)
  readonly otpBreakerSends: number = 50;

  /** … at least this percentage of them, … */
  @WholeNumber('OTP_BREAKER_PERCENT', 0, 100)
  readonly otpBreakerPercent: number = 20;

  /** … or it is blocked for this time, four times as long on each repeat. */
  @WholeNumber('OTP_BREAKER_BLOCK_MINUTES', 1, 43_200)
  readonly otpBreakerBlockMinutes: number = 60;

  get otpLimits(): OtpLimits {
    return {
      phonePerHour: this.otpPhonePerHour,
      phonePerDay: this.otpPhonePerDay,
      breakerSends: this.otpBreakerSends,
      breakerPercent: this.otpBreakerPercent,
      breakerBlockSeconds: this.otpBreakerBlockMinutes * 60,
    };
  }

  /** Null: nobody signs in over OpenID Connect. */
  get oidc(): OidcSettings | null {
    const { consoleOidcIssuer: issuer, consoleOidcClientId: clientId, consoleOidcClientSecret: clientSecret } = this;
    if (issuer === null || clientId === null || clientSecret === null) return null;
    return { issuer, clientId, clientSecret, name: this.consoleOidcName ?? new URL(issuer).host };
  }

  /** Base of every URL that this server returns, without a trailing slash. Never derived from a request. */
  get publicBaseUrl(): string {
    if (this.configuredBaseUrl !== null) return this.configuredBaseUrl;
    return `https://${hostInUrl(this.host)}:${this.port}`;
  }

  get shutdownDelaySeconds(): number {
    return this.configuredShutdownDelaySeconds ?? (this.production ? SHUTDOWN_DELAY_SECONDS : 0);
  }

  get tls(): TlsSettings {
    const { tlsCertFile, tlsKeyFile, trustedProxies } = this;
    if (this.tlsMode === 'proxy') return { mode: 'proxy', trustedProxies };
    if (tlsCertFile === null || tlsKeyFile === null)
      throw new Error('direct TLS without its files: settings not loaded');
    return { mode: 'direct', certFile: tlsCertFile, keyFile: tlsKeyFile };
  }

  override warnings(): string[] {
    const found = super.warnings();
    if (!this.production) return found;
    found.push(...sharedKeyWarnings(this));
    found.push(...this.trustedProxies.filter(isWideRange).map(tooManyProxies), ...permissiveWarnings(this));
    if (this.webhookEgressProxy !== null && !isGuardedUrl(this.webhookEgressProxy))
      found.push(EGRESS_PROXY_WITHOUT_TLS);
    return found;
  }

  /** Faults that only several variables together have. */
  override contradictions(): SettingFault[] {
    const faults = super.contradictions();
    if (this.production) faults.push(...keyFaults(this));
    if (coverWholeSpace(this.trustedProxies)) faults.push(EVERY_PROXY_TRUSTED);
    faults.push(...missingOidcFaults(this));
    if (this.tlsMode === 'proxy') {
      if (this.trustedProxies.length === 0) faults.push(NO_TRUSTED_PROXY);
      return faults;
    }
    if (this.tlsCertFile === null) faults.push(missingTlsFile('TLS_CERT_FILE'));
    if (this.tlsKeyFile === null) faults.push(missingTlsFile('TLS_KEY_FILE'));
    return faults;
  }
}

/** The value may hold a password and is not shown. */
const EGRESS_PROXY_WITHOUT_TLS =
  'WEBHOOK_EGRESS_PROXY is reached by plain http on another machine, so its network can read its password and the hosts ' +
  'of webhooks: give it an https URL, or one on loopback';

function tooManyProxies(range: string): string {
  return (
    `TRUSTED_PROXIES has the range ${range}, and whoever connects from it can choose the client address that is seen: ` +
    'list the addresses of the TLS proxies alone'
  );
}

/** One of the three without the others would be a sign-in that nobody can use. */
function missingOidcFaults(settings: ControlPlaneSettings): SettingFault[] {
  const values = {
    CONSOLE_OIDC_ISSUER: settings.consoleOidcIssuer,
    CONSOLE_OIDC_CLIENT_ID: settings.consoleOidcClientId,
    CONSOLE_OIDC_CLIENT_SECRET: settings.consoleOidcClientSecret,
  };
  const missing = Object.entries(values).filter(([, value]) => value === null);
  if (missing.length === Object.keys(values).length) return [];
  const allowed = 'all of CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_CLIENT_SECRET, or none';
  return missing.map(([variable]) => ({ variable, fault: 'is not set, but another of the three is', allowed }));
}

const NO_TRUSTED_PROXY: SettingFault = {
  variable: 'TRUSTED_PROXIES',
  fault: 'is not set, so with TLS_MODE=proxy every request would be refused',
  allowed: 'the address ranges of the TLS proxy, such as 10.0.0.0/8, separated by commas',
};

/** Rejected because every client could then choose the address that the server sees. */
const EVERY_PROXY_TRUSTED: SettingFault = {
  variable: 'TRUSTED_PROXIES',
  fault: 'holds every address, so every client could choose the address that it is seen under',
  allowed: 'the address ranges of the TLS proxy alone, such as 10.0.0.0/8, separated by commas',
};

/** Rejected because a leaked key of the brands of one version would expose those of the other too. */
function repeatedEntropyKeys(keys: ReadonlyMap<number, Buffer>): SettingFault[] {
  const fault = repeatedKeyFault(keys);
  if (fault === null) return [];
  return [{ variable: 'COUNTERSIGN_ENTROPY_KEYS', fault, allowed: 'another key for each version' }];
}

/** Faults of keys that production refuses. */
function keyFaults(settings: ControlPlaneSettings): SettingFault[] {
  const { entropyKeys, adminKey } = settings;
  // New brands get the highest version; the others are kept for the brands that were made with them.
  const highest = Math.max(...entropyKeys.keys());
  const current = [...entropyKeys].flatMap(([version, key]) => (version === highest ? [key] : []));
  return [
    ...repeatedEntropyKeys(entropyKeys),
    ...sharedKeyFaults(settings),
    ...weakKeyFaults('COUNTERSIGN_ENTROPY_KEYS', current),
    ...weakAdminKeyFaults('COUNTERSIGN_ADMIN_KEY', adminKey),
  ];
}

function missingTlsFile(variable: string): SettingFault {
  return {
    variable,
    fault: 'is not set, and TLS_MODE=direct serves TLS with it',
    allowed: 'the path of a readable file, or TLS_MODE=proxy behind a TLS proxy',
  };
}

/** A server that listens on every address is reached by name. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
