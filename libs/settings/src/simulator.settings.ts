import { LOG_LEVELS, type LogLevel } from './daemon.settings.js';
import { BaseUrl, ConnectionUrl, FilePath, OneOf, Port, Secret, SmppCredential } from './variables.js';

/** Longest system_id and password without the final NUL (SMPP 3.4, 5.2.1 and 5.2.2). */
const SYSTEM_ID_CHARACTERS = 15;
const PASSWORD_CHARACTERS = 8;
/** Longer than keys, ids and secrets of the product. */
const TEXT_CHARACTERS = 200;

/**
 * Settings of the carrier simulator, which listens on loopback only. Values not set by the launcher are null: without
 * the service account no access token is issued, without the webhook no event is sent, without the account there is
 * no demo.
 */
export class SimulatorSettings {
  @Port('SIMULATOR_SMPP_PORT')
  readonly smppPort: number = 2776;

  @Port('SIMULATOR_HTTP_PORT')
  readonly httpPort: number = 8090;

  /** The credentials with which the gateway binds. */
  @SmppCredential('SIMULATOR_SYSTEM_ID', SYSTEM_ID_CHARACTERS)
  readonly systemId!: string;

  @SmppCredential('SIMULATOR_PASSWORD', PASSWORD_CHARACTERS)
  readonly password!: string;

  /** The service account key with which the gateway authenticates at the simulated RBM service. */
  @FilePath('SIMULATOR_RBM_SERVICE_ACCOUNT_FILE')
  readonly rbmServiceAccountFile: string | null = null;

  /** The token with which webhooks of the simulated RBM service are signed. */
  @Secret('SIMULATOR_RBM_CLIENT_TOKEN', 8, 256)
  readonly rbmClientToken: string | null = null;

  /** The destination of webhooks of the simulated RBM service. */
  @ConnectionUrl('SIMULATOR_RBM_WEBHOOK_URL', ['http:', 'https:'])
  readonly rbmWebhookUrl: string | null = null;

  /** The product's base URL for the server of the demo site. */
  @BaseUrl('SIMULATOR_DEMO_BASE_URL')
  readonly demoBaseUrl: string | null = null;

  /** The authority of its certificate; null: one that Node trusts. */
  @FilePath('SIMULATOR_DEMO_CA_FILE')
  readonly demoCaFile: string | null = null;

  @Secret('SIMULATOR_DEMO_API_KEY', 1, TEXT_CHARACTERS)
  readonly demoApiKey: string | null = null;

  @Secret('SIMULATOR_DEMO_ACCOUNT_ID', 1, TEXT_CHARACTERS)
  readonly demoAccountId: string | null = null;

  @Secret('SIMULATOR_DEMO_BRAND_ID', 1, TEXT_CHARACTERS)
  readonly demoBrandId: string | null = null;

  @Secret('SIMULATOR_DEMO_WEBHOOK_SECRET', 1, TEXT_CHARACTERS)
  readonly demoWebhookSecret: string | null = null;

  @OneOf('LOG_LEVEL', LOG_LEVELS)
  readonly logLevel: LogLevel = 'info';
}
