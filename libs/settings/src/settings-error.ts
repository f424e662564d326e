/** A variable with an invalid or missing value. */
export interface SettingFault {
  readonly variable: string;
  /** The fault of the value; never contains the value of a secret. */
  readonly fault: string;
  /** The allowed values, as a phrase. */
  readonly allowed: string;
}

/** The environment is invalid for this process. The message names all faults, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly faults: readonly SettingFault[]) {
    const lines = faults.map(({ variable, fault, allowed }) => `  ${variable} ${fault}. Allowed: ${allowed}.`);
    super(
      `cannot start, ${faults.length === 1 ? 'one setting is' : `${faults.length} settings are`} not right:\n${lines.join('\n')}`,
    );
  }
}
