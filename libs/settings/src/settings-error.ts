/** One variable that the process cannot start with. */
export interface SettingFault {
  readonly variable: string;
  /** What is wrong with the value; a secret's value is never part of it. */
  readonly fault: string;
  /** What would be right, as a phrase. */
  readonly allowed: string;
}

/** The environment does not configure this process. Its message names every fault at once, one a line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly faults: readonly SettingFault[]) {
    const lines = faults.map(({ variable, fault, allowed }) => `  ${variable} ${fault}. Allowed: ${allowed}.`);
    super(
      `cannot start, ${faults.length === 1 ? 'one setting is' : `${faults.length} settings are`} not right:\n${lines.join('\n')}`,
    );
  }
}
