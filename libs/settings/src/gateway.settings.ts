import { DaemonSettings } from './daemon.settings.js';
import type { SettingFault } from './settings-error.js';
import { FilePath, Host, Port, Secret, ServiceUrl, WholeNumber } from './variables.js';

/** How the platform of RCS Business Messaging is reached, and how it is known. */
export interface RbmSettings {
  /** Without a slash at its end. */
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

  /** Used where the certificate and its key are set. */
  @Port('GATEWAY_SMPP_TLS_PORT')
  readonly smppTlsPort: number = 3550;

  @FilePath('SMPP_TLS_CERT_FILE')
  readonly smppTlsCertFile: string | null = null;

  @FilePath('SMPP_TLS_KEY_FILE')
  readonly smppTlsKeyFile: string | null = null;

  /** Authorities of the certificates that peers must show on the TLS port; null: no peer is asked for one. */
  @FilePath('SMPP_TLS_CLIENT_CA_FILE')
  readonly smppTlsClientCaFile: string | null = null;

  /** MOs a second from one sender over one link of this process, with a burst of twice as many; 0: no limit. */
  @WholeNumber('MO_SENDER_PER_SECOND', 0, 1_000_000)
  readonly moSenderPerSecond: number = 10;

  @Host('GATEWAY_HTTP_HOST')
  readonly httpHost: string = '127.0.0.1';

  @Port('GATEWAY_HTTP_PORT')
  readonly httpPort: number = 8081;

  /** The RCS Business Messaging service; another host of it, or the simulator. */
  @ServiceUrl('RBM_BASE_URL')
  readonly rbmBaseUrl: string = 'https://rcsbusinessmessaging.googleapis.com';

  /** The key of the service account that owns the agents, as Google gives it out (JSON). Without it no card is sent. */
  @FilePath('RBM_SERVICE_ACCOUNT_FILE')
  readonly rbmServiceAccountFile: string | null = null;

  /** What the platform signs its webhooks with. */
  @Secret('RBM_CLIENT_TOKEN', 8, 256)
  readonly rbmClientToken: string | null = null;

  @Port('GATEWAY_OPS_PORT')
  readonly opsPort: number = 9465;

  /** Null: no card is sent, and no webhook of the platform believed. */
  get rbm(): RbmSettings | null {
    const { rbmBaseUrl: baseUrl, rbmServiceAccountFile: serviceAccountFile, rbmClientToken: clientToken } = this;
    return serviceAccountFile === null || clientToken === null ? null : { baseUrl, serviceAccountFile, clientToken };
  }

  /** Faults that only several variables together have. */
  override contradictions(): SettingFault[] {
    return [...super.contradictions(), ...this.halfOfTls(), ...this.clientsWithoutTls(), ...this.halfOfRbm()];
  }

  private halfOfTls(): SettingFault[] {
    const certificate: Half = ['SMPP_TLS_CERT_FILE', this.smppTlsCertFile, 'the path of a readable file'];
    return halfOf(certificate, ['SMPP_TLS_KEY_FILE', this.smppTlsKeyFile, 'the path of a readable file']);
  }

  /** Cards whose answers nobody could prove would leave every session waiting for a tap that never counts. */
  private halfOfRbm(): SettingFault[] {
    const account: Half = ['RBM_SERVICE_ACCOUNT_FILE', this.rbmServiceAccountFile, 'the path of a readable file'];
    return halfOf(account, ['RBM_CLIENT_TOKEN', this.rbmClientToken, 'the client token of the webhook']);
  }

  /** Client certificates that nobody asks for would protect nothing. */
  private clientsWithoutTls(): SettingFault[] {
    if (this.smppTlsClientCaFile === null || this.smppTlsCertFile !== null || this.smppTlsKeyFile !== null) return [];
    const variable = 'SMPP_TLS_CLIENT_CA_FILE';
    return [
      { variable, fault: 'is set, but there is no TLS port', allowed: 'a file where SMPP_TLS_CERT_FILE is set, too' },
    ];
  }
}

/** A variable, its value, and what would be right. */
type Half = readonly [variable: string, value: string | null, allowed: string];

/** Two that only go together: the fault is that of the missing one. */
function halfOf(one: Half, other: Half): SettingFault[] {
  if ((one[1] === null) === (other[1] === null)) return [];
  const [[variable, , allowed], [set]] = one[1] === null ? [one, other] : [other, one];
  return [{ variable, fault: `is not set, but ${set} is`, allowed: `${allowed}, or neither of the two` }];
}
