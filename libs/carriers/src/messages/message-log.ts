import { firstIdAt, ID_CLOCK_SLACK_MS, idTimeMs, type Uuid } from '@countersign/ids';
import type { Executor, Page, PageRequest, Records } from '@countersign/postgres';
import { FIND_MESSAGE, FIND_TEXT, MESSAGES_OF_SESSION, pageOfMessages, type MessageFilter } from './message-log.sql.js';
import type { MessageFate } from '../inbound/message.js';
import { attemptsOf, type Attempt } from '../outbound/attempt-log.js';
import type { OutboundState } from '../outbound/outbound.js';

/** A message in either direction for operators, without its text. */
export interface MessageRecord {
  readonly id: Uuid;
  readonly direction: 'in' | 'out';
  /** Sent by a test number, or with a test key. */
  readonly test: boolean;
  /** The result of an MO; the state of an MT. */
  readonly fate: MessageFate | OutboundState;
  /** When an MO was stored, when an MT was requested. */
  readonly at: Date;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid | null;
  readonly carrier: string | null;
  /** Kind of the link: a bind or a system; null when unknown or deleted. */
  readonly linkKind: 'bind' | 'sys' | null;
  readonly linkId: Uuid | null;
  /** For an MO as written by the carrier. */
  readonly source: string;
  readonly destination: string;
  /** Of an MO that is one part of a long message. */
  readonly partNumber: number | null;
  readonly partTotal: number | null;
  /** The following fields are set for MTs only. */
  readonly attempts: number | null;
  /** Number of attempts without an answer: the carrier may or may not have accepted the message. */
  readonly unknownFates: number | null;
  readonly networkError: string | null;
  readonly smscMessageId: string | null;
  readonly submittedAt: Date | null;
  readonly endedAt: Date | null;
  /** Of one MT, not in lists: its first attempt and the latest ones, oldest first. */
  readonly attemptLog?: readonly Attempt[];
}

/** A row with the stored log, whose form the reader does not trust. */
type FoundRow = Omit<MessageRecord, 'attemptLog'> & { readonly attemptLog: unknown };

/** Messages in and out as one list, newest first. Read only, so nothing is locked. */
export class MessageLog implements Records<MessageRecord> {
  constructor(private readonly filter: MessageFilter = {}) {}

  async list(db: Executor, { limit, startingAfter }: PageRequest): Promise<Page<MessageRecord>> {
    const statement = pageOfMessages(this.filter, { limit, startingAfter });
    const rows = statement === null ? [] : await db.query<MessageRecord>(statement.text, statement.values);
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  async find(db: Executor, id: Uuid): Promise<MessageRecord | null> {
    const [row] = await db.query<FoundRow>(FIND_MESSAGE, [id]);
    return row === undefined ? null : withAttempts(row);
  }

  /** The first messages of a session, at most `limit` in each direction, in no particular order. */
  static async ofSession(db: Executor, sessionId: Uuid, limit: number): Promise<MessageRecord[]> {
    const from = firstIdAt(idTimeMs(sessionId) - ID_CLOCK_SLACK_MS);
    const rows = await db.query<FoundRow>(MESSAGES_OF_SESSION, [sessionId, from, limit]);
    return rows.map(withAttempts);
  }

  lock(tx: Executor, id: Uuid): Promise<MessageRecord | null> {
    return this.find(tx, id);
  }

  /** The text of a message, sealed under `message-text` with its id as context; null after erasure. */
  async sealedText(db: Executor, id: Uuid): Promise<Buffer | null> {
    const [text] = await db.query<{ sealed: Buffer | null }>(FIND_TEXT, [id]);
    return text?.sealed ?? null;
  }
}

function withAttempts({ attemptLog, ...message }: FoundRow): MessageRecord {
  return attemptLog === null ? message : { ...message, attemptLog: attemptsOf(attemptLog) };
}
