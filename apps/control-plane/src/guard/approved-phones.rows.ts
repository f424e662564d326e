import type { VersionedRows } from '@countersign/key-ring';
import { KNOWN_DAYS } from './approved-phones.js';

const DAY_SECONDS = 86_400;

/** Approved phones whose digest was made with one version of the master key. */
export const APPROVED_PHONE_ROWS: VersionedRows = {
  name: 'otp_phones',
  count: `SELECT count(*)::int AS rows, max(credited_on)::timestamp AT TIME ZONE 'UTC' AS "newestAt" FROM otp_phones
    WHERE digest_version = $1 AND $2::uuid IS NOT NULL`,
  isNeeded: false,
  gatewaysWrite: false,
  // One more day, because credited_on is a date without a time.
  livesSeconds: (KNOWN_DAYS + 1) * DAY_SECONDS,
  renewal: 'digested again with the next approval of the phone, else deleted when it expires',
};
