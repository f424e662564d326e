import { LOG_LEVELS, type LogLevel } from './daemon.settings.js';
import { BaseUrl, ConnectionUrl, FilePath, OneOf, Port, Secret, SmppCredential } from './variables.js';

/** Longest system_id and password without the closing zero (SMPP 3.4, 5.2.1 and 5.2.2). */
const SYSTEM_ID_CHARACTERS = 15;
const PASSWORD_CHARACTERS = 8;
/** Keys, ids and secrets of the product have fewer. */
const TEXT_CHARACTERS = 200;

/**
 * Settings of the carrier simulator, which listens on loopback only. What is null was not given by the launcher: without
 * the service account nobody gets a token, without the webhook no event is told, without the account there is no demo.
 */
export class SimulatorSettings {
  @Port('SIMULATOR_SMPP_PORT')
  readonly smppPort: number = 2776;

  @Port('SIMULATOR_HTTP_PORT')
  readonly httpPort: number = 8090;

  /** What the gateway binds with. */
  @SmppCredential('SIMULATOR_SYSTEM_ID', SYSTEM_ID_CHARACTERS)
  readonly systemId!: string;

  @SmppCredential('SIMULATOR_PASSWORD', PASSWORD_CHARACTERS)
  readonly password!: string;

  /** The key that the gateway proves itself with at the RBM service which is played here. */
  @FilePath('SIMULATOR_RBM_SERVICE_ACCOUNT_FILE')
  readonly rbmServiceAccountFile: string | null = null;

  /** What webhooks of the RBM service are signed with. */
  @Secret('SIMULATOR_RBM_CLIENT_TOKEN', 8, 256)
  readonly rbmClientToken: string | null = null;

  /** Where webhooks of the RBM service go. */
  @ConnectionUrl('SIMULATOR_RBM_WEBHOOK_URL', ['http:', 'https:'])
  readonly rbmWebhookUrl: string | null = null;

  /** The product, as the demo site's server reaches it. */
  @BaseUrl('SIMULATOR_DEMO_BASE_URL')
  readonly demoBaseUrl: string | null = null;

  /** The authority of its certificate; null: one that Node knows. */
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
