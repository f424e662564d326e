import { DaemonSettings } from './daemon.settings.js';
import type { SettingFault } from './settings-error.js';
import { FilePath, Given, Host, Port, Secret, ServiceUrl, WholeNumber } from './variables.js';

/** Address and credentials of the RCS Business Messaging platform. */
export interface RbmSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly serviceAccountFile: string;
  readonly clientToken: string;
}

/** Settings of the gateway. */
export class GatewaySettings extends DaemonSettings {
  @Host('GATEWAY_SMPP_HOST')
  readonly smppHost: string = '127.0.0.1';

  @Port('GATEWAY_SMPP_PORT')
  readonly smppPort: number = 2775;

  /** Used if the certificate and its key are set. */
  @Port('GATEWAY_SMPP_TLS_PORT')
  readonly smppTlsPort: number = 3550;

  @FilePath('SMPP_TLS_CERT_FILE')
  readonly smppTlsCertFile: string | null = null;

  @FilePath('SMPP_TLS_KEY_FILE')
  readonly smppTlsKeyFile: string | null = null;

  /** Certificate authorities for client certificates on the TLS port; null: no client certificate is requested. */
  @FilePath('SMPP_TLS_CLIENT_CA_FILE')
  readonly smppTlsClientCaFile: string | null = null;

  /** MOs per second from one sender over one link of this process, with a burst of twice as many; 0: no limit. */
  @WholeNumber('MO_SENDER_PER_SECOND', 0, 1_000_000)
  readonly moSenderPerSecond: number = 10;

  @Host('GATEWAY_HTTP_HOST')
  readonly httpHost: string = '127.0.0.1';

  @Port('GATEWAY_HTTP_PORT')
  readonly httpPort: number = 8081;

  /** The RCS Business Messaging service; another host of it, or the simulator. */
  @ServiceUrl('RBM_BASE_URL')
  readonly rbmBaseUrl: string = 'https://rcsbusinessmessaging.googleapis.com';

  /** The key file (JSON) from Google of the service account that owns the agents. Without it no card is sent. */
  @FilePath('RBM_SERVICE_ACCOUNT_FILE')
  readonly rbmServiceAccountFile: string | null = null;

  /** The token with which the platform signs its webhooks. */
  @Secret('RBM_CLIENT_TOKEN', 8, 256)
  readonly rbmClientToken: string | null = null;

  @Port('GATEWAY_OPS_PORT')
  readonly opsPort: number = 9465;

  /** Secrets of other processes, and whether this one was given them; their values are not read. */
  @Given('COUNTERSIGN_ENTROPY_KEYS')
  readonly entropyKeysAreGiven: boolean = false;

  @Given('COUNTERSIGN_ENTROPY_KEYS_FILE')
  readonly entropyKeysFileIsGiven: boolean = false;

  @Given('COUNTERSIGN_ADMIN_KEY')
  readonly adminKeyIsGiven: boolean = false;

  @Given('COUNTERSIGN_ADMIN_KEY_FILE')
  readonly adminKeyFileIsGiven: boolean = false;

  @Given('DATABASE_MIGRATION_URL')
  readonly migrationUrlIsGiven: boolean = false;

  @Given('DATABASE_MIGRATION_URL_FILE')
  readonly migrationUrlFileIsGiven: boolean = false;

  /** Null: no card is sent, and the platform's webhooks are rejected. */
  get rbm(): RbmSettings | null {
    const { rbmBaseUrl: baseUrl, rbmServiceAccountFile: serviceAccountFile, rbmClientToken: clientToken } = this;
    return serviceAccountFile === null || clientToken === null ? null : { baseUrl, serviceAccountFile, clientToken };
  }

  override warnings(): string[] {
    const found = super.warnings();
    return this.production ? [...found, ...this.foreignSecrets().map(foreignSecret)] : found;
  }

  private foreignSecrets(): string[] {
    return [
      ...(this.entropyKeysAreGiven || this.entropyKeysFileIsGiven ? ['COUNTERSIGN_ENTROPY_KEYS'] : []),
      ...(this.adminKeyIsGiven || this.adminKeyFileIsGiven ? ['COUNTERSIGN_ADMIN_KEY'] : []),
      ...(this.migrationUrlIsGiven || this.migrationUrlFileIsGiven ? ['DATABASE_MIGRATION_URL'] : []),
    ];
  }

  /** Faults of combinations of variables. */
  override contradictions(): SettingFault[] {
    return [...super.contradictions(), ...this.halfOfTls(), ...this.clientsWithoutTls(), ...this.halfOfRbm()];
  }

  private halfOfTls(): SettingFault[] {
    const certificate: Half = ['SMPP_TLS_CERT_FILE', this.smppTlsCertFile, 'the path of a readable file'];
    return halfOf(certificate, ['SMPP_TLS_KEY_FILE', this.smppTlsKeyFile, 'the path of a readable file']);
  }

  /**
   * Without the token, answers to cards could not be verified, and every session would wait for a tap that never
   * counts.
   */
  private halfOfRbm(): SettingFault[] {
    const account: Half = ['RBM_SERVICE_ACCOUNT_FILE', this.rbmServiceAccountFile, 'the path of a readable file'];
    return halfOf(account, ['RBM_CLIENT_TOKEN', this.rbmClientToken, 'the client token of the webhook']);
  }

  /** Without the TLS port, client certificates are never requested. */
  private clientsWithoutTls(): SettingFault[] {
    if (this.smppTlsClientCaFile === null || this.smppTlsCertFile !== null || this.smppTlsKeyFile !== null) return [];
    const variable = 'SMPP_TLS_CLIENT_CA_FILE';
    return [
      { variable, fault: 'is set, but there is no TLS port', allowed: 'a file where SMPP_TLS_CERT_FILE is set, too' },
    ];
  }
}

const foreignSecret = (variable: string): string =>
  `${variable} is given to the gateway, which needs it for nothing, so whoever takes over the process has it: give it ` +
  'to the processes that use it alone';

/** A variable, its value, and what is allowed. */
type Half = readonly [variable: string, value: string | null, allowed: string];

/** Two variables that must be set together: reports the missing one. */
function halfOf(one: Half, other: Half): SettingFault[] {
  if ((one[1] === null) === (other[1] === null)) return [];
  const [[variable, , allowed], [set]] = one[1] === null ? [one, other] : [other, one];
  return [{ variable, fault: `is not set, but ${set} is`, allowed: `${allowed}, or neither of the two` }];
}
