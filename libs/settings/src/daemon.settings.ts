import { ProcessSettings } from './process.settings.js';
import { optionsOfThisProcess, processFaults, processWarnings } from './process-options.js';
import type { SettingFault } from './settings-error.js';
import { acceptsAnyName, unprotectedStores } from './store-links.js';
import { DatabaseUrl, FilePath, Given, Host, MasterKeys, OneOf, RedisUrl, Text, WholeNumber } from './variables.js';
import { weakKeyFaults } from './weak-keys.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const ENVIRONMENT_NOT_NAMED =
  'NODE_ENV is not set, so the defaults of development are used: set NODE_ENV=production, or NODE_ENV=development';

const ANY_NAME_ACCEPTED =
  'DATABASE_URL accepts every certificate of the authorities in sslrootcert, for any host: use sslmode=verify-full, ' +
  'unless these authorities serve this database alone';

/**
 * Settings of both daemons (contract, Running it). The master key and the database have no default: in development
 * the launcher sets them, in production the boot fails without them.
 */
export class DaemonSettings extends ProcessSettings {
  @DatabaseUrl('DATABASE_URL')
  readonly databaseUrl!: string;

  /** Null: queues, bus and limits use PostgreSQL. */
  @RedisUrl('REDIS_URL')
  readonly redisUrl: string | null = null;

  @Text('DEBUG')
  readonly debug: string | null = null;

  @WholeNumber('DATABASE_POOL_MAX', 2, 200)
  readonly databasePoolMax: number = 10;

  @OneOf('LOG_LEVEL', LOG_LEVELS)
  readonly logLevel: LogLevel = 'info';

  /** A file with one of the levels, which is read again on SIGHUP; it wins over `LOG_LEVEL`. */
  @FilePath('LOG_LEVEL_FILE')
  readonly logLevelFile: string | null = null;

  @Given('NODE_ENV')
  readonly environmentIsNamed: boolean = false;

  /** Keys of 32 octets by version, 1 to 255, in the order of the variable: the first is current. */
  @MasterKeys('COUNTERSIGN_MASTER_KEY')
  readonly masterKeys!: ReadonlyMap<number, Buffer>;

  @Host('OPS_HOST')
  readonly opsHost: string = '127.0.0.1';

  /** The database refuses to drop younger days (migrations/0013-database-roles.ts). */
  @WholeNumber('RETENTION_DAYS', 4, 3650)
  readonly retentionDays: number = 30;

  /** Maximum number of commands per transaction; 1 disables batching, for measurements. */
  @WholeNumber('BATCH_MAX_COMMANDS', 1, 500)
  readonly batchMaxCommands: number = 64;

  /** Faults of combinations of variables. */
  contradictions(): SettingFault[] {
    if (!this.production) return [];
    return [
      ...processFaults(optionsOfThisProcess(this)),
      ...unprotectedStores(this),
      ...weakKeyFaults('COUNTERSIGN_MASTER_KEY', [...this.masterKeys.values()]),
    ];
  }

  /** Accepted settings that an operator should check, each as a sentence that says what to do. */
  warnings(): string[] {
    if (!this.production) return this.environmentIsNamed ? [] : [ENVIRONMENT_NOT_NAMED];
    const ofDatabase = acceptsAnyName(this.databaseUrl) ? [ANY_NAME_ACCEPTED] : [];
    return [...processWarnings(optionsOfThisProcess(this)), ...ofDatabase];
  }
}
