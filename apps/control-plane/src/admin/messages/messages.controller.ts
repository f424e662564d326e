import { Body, Controller, Param, Query } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminDesk } from '../admin-desk.js';
import { Acts, Lists, Shows } from '../admin-operations.js';
import type { Engineer } from '../admin-resource.js';
import { ByEngineer } from '../engineer.decorator.js';
import type { Plain } from '../plain.js';
import { MessagesQuery } from './message.dto.js';
import { MessageResource } from './message.resource.js';
import { MessageAnswer, MessageList } from './message.view.js';

const MESSAGE = { id: 'Message', one: 'a message', many: 'messages' };

@Controller('v1/admin/messages')
export class MessagesController {
  constructor(
    private readonly desk: AdminDesk,
    private readonly messages: MessageResource,
  ) {}

  @Lists(MESSAGE, MessageList, {
    description:
      'Every SMS in and every code out, without its text. By `phone`: what came from it, written internationally or matched to its session, and what goes to it.',
    errors: ['INVALID_PHONE'],
  })
  async list(@Query(QueryPipe) query: MessagesQuery): Promise<Plain<MessageList>> {
    return valueOf(await this.desk.list(this.messages.where(query), query));
  }

  @Shows(MESSAGE, MessageAnswer)
  async find(@Param('id') id: string): Promise<Plain<MessageAnswer>> {
    return valueOf(await this.desk.find(this.messages, id));
  }

  @Acts(MESSAGE, { name: 'reveal', summary: 'Read the text of' }, MessageAnswer, {
    description:
      'Each reading is written down. The text of a code is erased as soon as the code has gone or is given up.',
  })
  async reveal(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<MessageAnswer>> {
    const reveal = { id, action: 'reveal' };
    return valueOf(await this.desk.act(this.messages, by, reveal, (tx, row) => this.messages.reveal(tx, row)));
  }
}
