import { MessageLog, type MessageRecord } from '@countersign/carriers/messages';
import type { Uuid } from '@countersign/ids';
import { modeOf, SealError, ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../../http/admin-policy.js';
import { succeed, type Outcome } from '../../http/errors.js';
import type { AdminResource, Engineer, Written } from '../crud/admin-resource.js';
import { numberOf, uuidOf } from '../crud/filters.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { hideCodeDigits } from './code-digits.js';
import type { MessagesQuery } from './message.dto.js';
import { auditedMessage, type MessageAnswer, messageView, withoutPerson } from './message.view.js';

type Answer = Plain<MessageAnswer>;

@Injectable()
export class MessageResource implements AdminResource<MessageRecord, Answer> {
  readonly name = 'messages';
  readonly noun = 'message';
  readonly idPrefix = 'msg';
  readonly table = new MessageLog();
  readonly view = messageView;
  readonly audited = auditedMessage;
  readonly refusals = {};

  constructor(private readonly keys: ServerKeys) {}

  /** The messages with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<MessageRecord, Answer> {
    return maskedFor(by, this, withoutPerson);
  }

  /** The table with the filters of a query. */
  where({ direction, sessionId, phone, fate, test }: MessagesQuery): MessageLog {
    const mode = test === undefined ? undefined : modeOf(test === 'true');
    return new MessageLog({ direction, sessionId: uuidOf('sess', sessionId), phone: numberOf(phone), fate, mode });
  }

  /** Only this response contains the text, not its audit entry. */
  async reveal(tx: Executor, { role }: Engineer, row: MessageRecord): Promise<Outcome<Written<MessageRecord, Answer>>> {
    const sealed = await this.table.sealedText(tx, row.id);
    const text = sealed === null ? null : this.opened(sealed, row.id);
    const hidden = text !== null && !hasRight(role, 'readCodes');
    return succeed({ row, once: { text: hidden ? hideCodeDigits(text, row.direction) : text } });
  }

  /** Null for a value that no process of this service sealed for this message. */
  private opened(sealed: Buffer, id: Uuid): string | null {
    try {
      return this.keys.open('message-text', sealed, id).toString('utf8');
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}
