import { MessageLog, type MessageRecord } from '@countersign/carriers';
import { modeOf, ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../../http/errors.js';
import type { AdminResource, Listed, Written } from '../admin-resource.js';
import { numberOf, uuidOf } from '../filters.js';
import type { Plain } from '../plain.js';
import type { MessagesQuery } from './message.dto.js';
import { type MessageAnswer, messageView } from './message.view.js';

type Answer = Plain<MessageAnswer>;

@Injectable()
export class MessageResource implements AdminResource<MessageRecord, Answer> {
  readonly name = 'messages';
  readonly noun = 'message';
  readonly idPrefix = 'msg';
  readonly table = new MessageLog();
  readonly view = messageView;
  readonly refusals = {};

  constructor(private readonly keys: ServerKeys) {}

  /** Those that were asked for. */
  where({ direction, sessionId, phone, fate, test }: MessagesQuery): Listed<MessageRecord, Answer> {
    const mode = test === undefined ? undefined : modeOf(test === 'true');
    const filter = { direction, sessionId: uuidOf('sess', sessionId), phone: numberOf(phone), fate, mode };
    return { idPrefix: this.idPrefix, view: this.view, table: new MessageLog(filter) };
  }

  /** The text in this answer alone: the audit log says that it was read, and not what it said. */
  async reveal(tx: Executor, row: MessageRecord): Promise<Outcome<Written<MessageRecord, Answer>>> {
    const sealed = await this.table.sealedText(tx, row.id);
    const text = sealed === null ? null : this.keys.open('message-text', sealed, row.id).toString('utf8');
    return succeed({ row, once: { text } });
  }
}
