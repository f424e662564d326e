import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { columnsOf, RecordTable } from '@countersign/postgres';
import { SessionEntity } from './session.entity.js';
import { sessionOf } from './session.row.js';
import type { TimedRow } from './session.sql.js';
import type { Session } from './rules/session.js';

const COUNTERS = ['otpSends', 'otpAttempts', 'otpAttemptLimit', 'otpSentAt', 'consumptionId'] as const;

/** A session row of any account, with its code counters and the id of its consumption. */
export type SessionRecord = TimedRow & Pick<SessionEntity, (typeof COUNTERS)[number]>;

/** Sessions of all accounts, for operators, without those of sign-ins to the console. Read only: SessionStore writes them. */
export const SESSION_RECORDS = new RecordTable<SessionRecord>({
  table: 'sessions',
  columns: `${columnsOf(SessionEntity, { with: COUNTERS })},
    date_trunc('milliseconds', statement_timestamp()) AS now`,
  only: `account_id <> '${SIGN_IN_ACCOUNT_ID}'`,
});

/** The session as of the moment its row was read. */
export const sessionOfRecord = (record: SessionRecord): Session => sessionOf(record);
