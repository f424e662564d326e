import { databaseUrls } from '@countersign/store-urls';
import { ProcessSettings } from './process.settings.js';
import { optionsOfThisProcess, processFaults } from './process-options.js';
import type { SettingFault } from './settings-error.js';
import { unprotectedDatabase } from './store-links.js';
import { DatabaseUrl, Role } from './variables.js';

/** Settings of `npm run migrate`, which prepares a database before daemons of a release start. */
export class MigrationSettings extends ProcessSettings {
  /** URL of the role that owns the tables. Null: the role of `DATABASE_URL` owns them. */
  @DatabaseUrl('DATABASE_MIGRATION_URL')
  readonly migrationUrl: string | null = null;

  /** URL of the daemons; only the name of its role is used beside `DATABASE_MIGRATION_URL`. */
  @DatabaseUrl('DATABASE_URL')
  readonly databaseUrl: string | null = null;

  /** The role that gateways connect with, where it is one of their own. Null: the role of `DATABASE_URL`. */
  @Role('DATABASE_GATEWAY_ROLE')
  readonly namedGatewayRole: string | null = null;

  /** URL of the role that owns the tables. */
  get ownerUrl(): string {
    return this.migrationUrl ?? this.databaseUrl ?? '';
  }

  /** The daemons' role, which gets its privileges. Null: it owns the tables, or is unknown. */
  get daemonRole(): string | null {
    const role = this.databaseUrl === null ? '' : roleOf(this.databaseUrl);
    return role === '' || role === roleOf(this.ownerUrl) ? null : role;
  }

  /** The role of gateways alone, to be given what they need. Null: they have the daemons' role, or the owner's. */
  get gatewayRole(): string | null {
    const role = this.namedGatewayRole;
    return role === this.daemonRole || role === roleOf(this.ownerUrl) ? null : role;
  }

  contradictions(): SettingFault[] {
    if (this.ownerUrl !== '') {
      const variable = this.migrationUrl === null ? 'DATABASE_URL' : 'DATABASE_MIGRATION_URL';
      if (!this.production) return [];
      return [...processFaults(optionsOfThisProcess(this)), ...unprotectedDatabase(variable, this.ownerUrl, this)];
    }
    return [
      { variable: 'DATABASE_MIGRATION_URL', fault: 'is not set', allowed: 'the URL of the role that owns the tables' },
    ];
  }
}

const roleOf = (url: string): string => decodeURIComponent(new URL(databaseUrls(url)?.[0] ?? url).username);
