import { Controller } from '@nestjs/common';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { InboundNumberChange, InboundNumberDraft } from './inbound-number.dto.js';
import { InboundNumberResource } from './inbound-number.resource.js';
import { InboundNumberAnswer, InboundNumberList } from './inbound-number.view.js';

const NUMBER = {
  resource: 'inbound-numbers',
  id: 'InboundNumber',
  one: 'an inbound number',
  many: 'inbound numbers',
} as const;

/** National senders of messages to a short code are read in its countries. */
const TRUST =
  'For a short code or a number of no numbering plan, while a bind or system has trustedForMo, this needs the role `owner`.';

@Controller('v1/admin/inbound-numbers')
export class InboundNumbersController extends CrudController(InboundNumberResource, {
  list: Lists(NUMBER, InboundNumberList),
  create: Creates(NUMBER, InboundNumberAnswer, {
    description: `New sessions of its countries use it at once. ${TRUST}`,
    errors: ['CONFLICT'],
  }),
  get: Shows(NUMBER, InboundNumberAnswer),
  update: Updates(NUMBER, InboundNumberAnswer, {
    description: `Existing sessions keep their inbound number. ${TRUST}`,
    errors: ['CONFLICT'],
  }),
  delete: Deletes(NUMBER, { description: `Existing sessions keep their inbound number. ${TRUST}` }),
  draft: InboundNumberDraft,
  change: InboundNumberChange,
}) {}
