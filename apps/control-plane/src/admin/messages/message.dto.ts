import { MESSAGE_FATES, type MessageFate } from '@countersign/carriers/inbound';
import { OUTBOUND_STATES, type OutboundState } from '@countersign/carriers/outbound';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { Optional } from '../crud/fields.js';
import { OnlyOf, OnlyOfMode, OnlyOfPhone } from '../crud/filters.js';
import { PageQuery } from '../crud/paging.js';

export const FATES = [...MESSAGE_FATES, ...OUTBOUND_STATES] as const;

/** The query of GET /v1/admin/messages. */
export class MessagesQuery extends PageQuery {
  @ApiPropertyOptional({ type: 'string', enum: ['in', 'out'], description: '`in` from phones, `out` to them.' })
  @IsIn(['in', 'out'], failsWith('direction must be in or out.'))
  @Optional()
  direction?: 'in' | 'out';

  @OnlyOf('sessionId', 'sess', 'session')
  sessionId?: string;

  @OnlyOfPhone()
  phone?: string;

  @OnlyOfMode()
  test?: 'true' | 'false';

  @ApiPropertyOptional({ type: 'string', enum: [...FATES], description: 'Only messages with this fate.' })
  @IsIn([...FATES], failsWith(`fate must be one of ${FATES.join(', ')}.`))
  @Optional()
  fate?: MessageFate | OutboundState;
}
