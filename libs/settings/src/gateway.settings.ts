import { DaemonSettings } from './daemon.settings.js';
import type { SettingFault } from './settings-error.js';
import { ConnectionUrl, FilePath, Host, Port, Secret } from './variables.js';

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

  @Host('GATEWAY_HTTP_HOST')
  readonly httpHost: string = '127.0.0.1';

  @Port('GATEWAY_HTTP_PORT')
  readonly httpPort: number = 8081;

  /** The RCS Business Messaging service; another host of it, or the simulator. */
  @ConnectionUrl('RBM_BASE_URL', ['https:', 'http:'])
  readonly rbmBaseUrl: string = 'https://rcsbusinessmessaging.googleapis.com';

  /** The key of the service account that owns the agents, as Google gives it out (JSON). Without it no card is sent. */
  @FilePath('RBM_SERVICE_ACCOUNT_FILE')
  readonly rbmServiceAccountFile: string | null = null;

  /** What the platform signs its webhooks with. */
  @Secret('RBM_CLIENT_TOKEN', 8, 256)
  readonly rbmClientToken: string | null = null;

  @Port('GATEWAY_OPS_PORT')
  readonly opsPort: number = 9465;

  /** Faults that only several variables together have. */
  contradictions(): SettingFault[] {
    return [...this.halfOfTls(), ...this.clientsWithoutTls()];
  }

  private halfOfTls(): SettingFault[] {
    if ((this.smppTlsCertFile === null) === (this.smppTlsKeyFile === null)) return [];
    const [variable, other] =
      this.smppTlsCertFile === null
        ? ['SMPP_TLS_CERT_FILE', 'SMPP_TLS_KEY_FILE']
        : ['SMPP_TLS_KEY_FILE', 'SMPP_TLS_CERT_FILE'];
    return [
      { variable, fault: `is not set, but ${other} is`, allowed: 'the path of a readable file, or neither of the two' },
    ];
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
