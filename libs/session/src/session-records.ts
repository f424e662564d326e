import { columnsOf, RecordTable } from '@countersign/postgres';
import { SessionEntity } from './session.entity.js';
import { sessionOf } from './session.row.js';
import type { TimedRow } from './session.sql.js';
import type { Session } from './rules/session.js';

/** A session row of any account, with its code counters. */
export type SessionRecord = TimedRow & Pick<SessionEntity, 'otpSends' | 'otpAttempts'>;

/** Sessions of all accounts, for operators. Read only: SessionStore writes them. */
export const SESSION_RECORDS = new RecordTable<SessionRecord>({
  table: 'sessions',
  columns: `${columnsOf(SessionEntity, { with: ['otpSends', 'otpAttempts'] })},
    date_trunc('milliseconds', statement_timestamp()) AS now`,
});

/** The session as of the moment its row was read. */
export const sessionOfRecord = (record: SessionRecord): Session => sessionOf(record);
