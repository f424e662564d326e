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

function insertRow(message: NewInboundMessage): Readonly<Record<string, unknown>> {
  const { textSealed } = message;
  return {
    id: message.id,
    carrier: message.carrier,
    link_id: message.linkId,
    source: storable(message.source),
    source_ton: message.sourceTon,
    source_npi: message.sourceNpi,
    destination: storable(message.destination),
    data_coding: message.dataCoding,
    text_sealed: Buffer.from(textSealed.buffer, textSealed.byteOffset, textSealed.byteLength).toString('base64'),
    part_number: message.part?.number ?? null,
    part_total: message.part?.total ?? null,
    fate: message.fate,
    session_id: message.sessionId,
    account_id: message.accountId,
  };
}

/** PostgreSQL's text has no NUL and no lone surrogate; they are replaced so that the address can be stored. */
function storable(address: string): string {
  return address.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}
