import { Body, Controller, Param, Query } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Lists, Shows } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { AuditedReads } from '../crud/audited-reads.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { maskedNumberOf } from '../crud/filters.js';
import type { Plain } from '../crud/plain.js';
import { MessagesQuery } from './message.dto.js';
import { MessageResource } from './message.resource.js';
import { MessageAnswer, MessageList } from './message.view.js';

const MESSAGE = { resource: 'messages', id: 'Message', one: 'a message', many: 'messages' } as const;

@Controller('v1/admin/messages')
export class MessagesController {
  constructor(
    private readonly admin: AdminService,
    private readonly reads: AuditedReads,
    private readonly messages: MessageResource,
  ) {}

  @Lists(MESSAGE, MessageList, {
    description:
      'Every SMS in and every code out, without its text. By `phone`: messages from it, in international format or matched to its session, and messages to it. A key that sees full phones adds an entry to the audit log with each page.',
    errors: ['INVALID_PHONE'],
    restricted: [{ name: 'phone', right: 'searchByPhone' }],
  })
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: MessagesQuery): Promise<Plain<MessageList>> {
    const shown = { ...this.messages.seenBy(by), table: this.messages.where(query) };
    const { direction, sessionId, fate, test } = query;
    const filter = { direction, sessionId, phone: maskedNumberOf(query.phone), fate, test };
    return valueOf(await this.reads.list(shown, by, { query, filter }));
  }

  @Shows(MESSAGE, MessageAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<MessageAnswer>> {
    return valueOf(await this.reads.find(this.messages.seenBy(by), by, id));
  }

  @Acts(MESSAGE, { name: 'reveal', summary: 'Read the text of' }, MessageAnswer, {
    description:
      'Each reading adds an entry to the audit log. Digits of codes are shown to the role `owner` only. The text of a code is erased as soon as the code is sent or given up.',
  })
  async reveal(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<MessageAnswer>> {
    const reveal = { id, action: 'reveal' };
    return valueOf(await this.admin.act(this.messages, by, reveal, (tx, row) => this.messages.reveal(tx, by, row)));
  }
}
