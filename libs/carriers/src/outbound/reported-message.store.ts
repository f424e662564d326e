import type { Executor } from '@countersign/postgres';
import { canonicalId } from './message-id.js';
import { FIND_REPORTED } from './reported-message.sql.js';

/** A message that is a receipt by its text alone. */
export interface ReportedMessage {
  readonly carrier: string;
  /** The id in the text. */
  readonly smscMessageId: string;
  /** Addresses as received. A receipt has the phone in one of them: carriers differ in which. */
  readonly source: string;
  readonly destination: string;
}

/** `sending`: unknown, but a submit to that phone has no recorded response yet, so the id may be its id. */
export type ReportedState = 'submitted' | 'sending' | 'unknown';

/** Finds the messages that receipts name. */
export class ReportedMessageStore {
  /** One state per receipt, in order. */
  async findReported(db: Executor, receipts: readonly ReportedMessage[]): Promise<ReportedState[]> {
    const rows = await db.query<{ submitted: boolean; sending: boolean }>(FIND_REPORTED, [
      receipts.map(({ carrier }) => carrier),
      receipts.map(({ smscMessageId }) => canonicalId(smscMessageId)),
      receipts.map(({ source }) => phoneDigits(source)),
      receipts.map(({ destination }) => phoneDigits(destination)),
    ]);
    return rows.map(({ submitted, sending }) => (submitted ? 'submitted' : sending ? 'sending' : 'unknown'));
  }
}

/** Of an address with letters, or without a digit other than 0: equals no phone, and is not empty. */
const NO_PHONE = '-';

/** Digits without international and trunk prefix; empty for an empty address alone. */
function phoneDigits(address: string): string {
  if (address === '') return '';
  const digits = /^[+0-9 -]*$/.test(address) ? address.replace(/\D/g, '').replace(/^0+/, '') : '';
  return digits === '' ? NO_PHONE : digits;
}
