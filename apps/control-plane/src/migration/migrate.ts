import { prepareDatabase } from '@countersign/events';
import { loadSettings, MigrationSettings, SettingsError } from '@countersign/settings';
import { redactText } from '@countersign/telemetry';

// `npm run migrate`: prepares the database for this release and ends. One line for each thing that it did or found.

const say = (line: string): void => void process.stderr.write(`${redactText(line)}\n`);

try {
  const { ownerUrl, daemonRole, gatewayRole } = loadSettings(MigrationSettings);
  const { done, faults } = await prepareDatabase({ ownerUrl, daemonRole, gatewayRole });
  say(done.length === 0 ? 'the database is up to date' : `migrated: ${done.join(', ')}`);
  if (daemonRole === null)
    say('DATABASE_MIGRATION_URL and DATABASE_URL do not name two roles: the daemons own the tables');
  for (const { role, fault } of faults) say(`the role ${role} may do more than a daemon needs: ${fault}`);
  for (const role of new Set(faults.filter(({ onAudit }) => onAudit).map((fault) => fault.role))) {
    say(`the role ${role} could change or remove audit entries: take that right away and migrate again`);
    process.exitCode = 1;
  }
} catch (error) {
  say(error instanceof SettingsError || !(error instanceof Error) ? String(error) : error.message);
  process.exitCode = 1;
}
