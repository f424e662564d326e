// The command that runs one failed test again.

/**
 * @param {string} kind the vitest project, such as `medium`
 * @param {{ file: string, name: string, isTest?: boolean }} failed its name as vitest prints it, with ` > ` between groups
 * @returns {string} a line for a POSIX shell
 */
export function rerunCommand(kind, { file, name, isTest }) {
  const command = `npx vitest run -c config/tooling/vitest.config.ts --project ${kind}`;
  if (!/\.spec\.ts$/.test(file)) return command;
  // vitest matches the pattern against the names joined with blanks.
  const pattern = `^${name.replaceAll(' > ', ' ').replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`;
  return isTest === true
    ? `${command} ${file} -t '${pattern.replaceAll("'", String.raw`'\''`)}'`
    : `${command} ${file}`;
}
