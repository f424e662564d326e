import { LOG_LEVELS, type LogLevel } from './daemon.settings.js';
import { OneOf, Port, SmppCredential } from './variables.js';

/** Longest system_id and password without the closing zero (SMPP 3.4, 5.2.1 and 5.2.2). */
const SYSTEM_ID_CHARACTERS = 15;
const PASSWORD_CHARACTERS = 8;

/** Settings of the carrier simulator, which listens on loopback only. */
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

  @OneOf('LOG_LEVEL', LOG_LEVELS)
  readonly logLevel: LogLevel = 'info';
}
