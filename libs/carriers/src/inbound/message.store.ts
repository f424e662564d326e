import type { Executor } from '@countersign/postgres';
import { INSERT_INBOUND } from './message.sql.js';
import type { NewInboundMessage } from './message.js';

/** Writes messages, in the caller's transaction. */
export class MessageStore {
  /** Stores MOs in one statement. Safe to run twice for the same ids: the first fate is kept. */
  async insertInbound(tx: Executor, messages: readonly NewInboundMessage[]): Promise<void> {
    if (messages.length > 0) await tx.query(INSERT_INBOUND, [JSON.stringify(messages.map(insertRow))]);
  }
}

/** Written field by field: a spread takes three times as long. */
function insertRow(message: NewInboundMessage): Readonly<Record<string, unknown>> {
  const { textSealed } = message;
  return {
    id: message.id,
    carrier: message.carrier,
    linkId: message.linkId,
    source: storable(message.source),
    sourceTon: message.sourceTon,
    sourceNpi: message.sourceNpi,
    destination: storable(message.destination),
    dataCoding: message.dataCoding,
    textSealed: Buffer.from(textSealed.buffer, textSealed.byteOffset, textSealed.byteLength).toString('base64'),
    partNumber: message.part?.number ?? null,
    partTotal: message.part?.total ?? null,
    fate: message.fate,
    sessionId: message.sessionId,
    accountId: message.accountId,
  };
}

/** PostgreSQL's text has no NUL and no lone surrogate; they are replaced so that the address can be stored. */
function storable(address: string): string {
  return address.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}
