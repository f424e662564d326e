import type { Uuid } from '@countersign/ids';
import type { Executor, Page, PageRequest, Records } from '@countersign/postgres';
import { FIND_MESSAGE, FIND_TEXT, pageOfMessages, type MessageFilter } from './message-log.sql.js';
import type { MessageFate } from '../inbound/message.js';
import type { OutboundState } from '../outbound/outbound.js';

/** A message in either direction, as engineers read it: without its text. */
export interface MessageRecord {
  readonly id: Uuid;
  readonly direction: 'in' | 'out';
  /** Sent by a test number, or by a test key. */
  readonly test: boolean;
  /** What became of an MO; how far an MT has come. */
  readonly fate: MessageFate | OutboundState;
  /** When an MO was stored, when an MT was asked for. */
  readonly at: Date;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
  readonly carrier: string | null;
  /** What the link is: a bind, a system; null when it is not known, or no longer. */
  readonly linkKind: 'bind' | 'sys' | null;
  readonly linkId: Uuid | null;
  /** As the carrier wrote them, in an MO. */
  readonly source: string;
  readonly destination: string;
  /** Of an MO that is a part of a longer one. */
  readonly partNumber: number | null;
  readonly partTotal: number | null;
  /** The rest is of MT alone. */
  readonly attempts: number | null;
  /** So many of the attempts got no answer: the carrier may have taken the message, or not. */
  readonly unknownFates: number | null;
  readonly networkError: string | null;
  readonly smscMessageId: string | null;
  readonly submittedAt: Date | null;
  readonly endedAt: Date | null;
}

/** Messages in and out as one list, newest first. They are read and never changed here, so that nothing is locked. */
export class MessageLog implements Records<MessageRecord> {
  constructor(private readonly filter: MessageFilter = {}) {}

  async list(db: Executor, { limit, startingAfter }: PageRequest): Promise<Page<MessageRecord>> {
    const statement = pageOfMessages(this.filter, { limit, startingAfter });
    const rows = statement === null ? [] : await db.query<MessageRecord>(statement.text, statement.values);
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  async find(db: Executor, id: Uuid): Promise<MessageRecord | null> {
    const [message] = await db.query<MessageRecord>(FIND_MESSAGE, [id]);
    return message ?? null;
  }

  lock(tx: Executor, id: Uuid): Promise<MessageRecord | null> {
    return this.find(tx, id);
  }

  /** The text of a message, sealed under `message-text` with its id as context; null once it is erased. */
  async sealedText(db: Executor, id: Uuid): Promise<Buffer | null> {
    const [text] = await db.query<{ sealed: Buffer | null }>(FIND_TEXT, [id]);
    return text?.sealed ?? null;
  }
}
