/** A recorded check value of a key that this database is used with. */
export interface RecordedCheck {
  readonly purpose: 'master' | 'entropy';
  readonly version: number;
  readonly value: Buffer;
  readonly fingerprint: string;
  readonly isRetired: boolean;
}

export const READ_CHECKS = `
  SELECT purpose, version, value, fingerprint, retired_at IS NOT NULL AS "isRetired" FROM key_checks
  ORDER BY purpose, version`;

/** Records a key unless its version is recorded. $1 purpose, $2 version, $3 check value, $4 fingerprint. */
export const INSERT_CHECK = `
  INSERT INTO key_checks (purpose, version, value, fingerprint) VALUES ($1, $2, $3, $4)
  ON CONFLICT (purpose, version) DO NOTHING RETURNING version`;

/** Whether the role may record keys: that of gateways may not. */
export const MAY_RECORD = `SELECT has_table_privilege('key_checks', 'INSERT') AS "mayRecord"`;

/** Marks versions that no row needs as retired, and returns those that were not. $1 purpose, $2 versions. */
export const RETIRE_CHECKS = `
  UPDATE key_checks SET retired_at = date_trunc('milliseconds', clock_timestamp())
  WHERE purpose = $1 AND version = ANY ($2::integer[]) AND retired_at IS NULL RETURNING version`;

/** Removes the mark from versions that a process lists at its start, or that rows need again. $1 purpose, $2 versions. */
export const REVIVE_CHECKS = `
  UPDATE key_checks SET retired_at = NULL
  WHERE purpose = $1 AND version = ANY ($2::integer[]) AND retired_at IS NOT NULL`;
