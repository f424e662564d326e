import { prepareDatabase } from '@countersign/events';
import { loadSettings, MigrationSettings, SettingsError } from '@countersign/settings';
import { redactText, terminalText } from '@countersign/telemetry';

// `npm run migrate`: prepares the database for this release and exits. Writes one line for each change and each fault.

const log = (line: string): void => void process.stderr.write(`${terminalText(redactText(line))}\n`);

try {
  const { ownerUrl, daemonRole, gatewayRole } = loadSettings(MigrationSettings);
  const { done, faults } = await prepareDatabase({ ownerUrl, daemonRole, gatewayRole });
  log(done.length === 0 ? 'the database is up to date' : `migrated: ${done.join(', ')}`);
  if (daemonRole === null)
    log('DATABASE_MIGRATION_URL and DATABASE_URL do not name two roles: the daemons own the tables');
  for (const { role, fault } of faults) log(`the role ${role} may do more than a daemon needs: ${fault}`);
  for (const role of new Set(faults.filter(({ onAudit }) => onAudit).map((fault) => fault.role))) {
    log(`the role ${role} could change or remove audit entries: revoke that right and migrate again`);
    process.exitCode = 1;
  }
} catch (error) {
  log(error instanceof SettingsError || !(error instanceof Error) ? String(error) : error.message);
  process.exitCode = 1;
}
