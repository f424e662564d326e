import { Controller, Param, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminDesk } from '../admin-desk.js';
import { Lists, Shows } from '../admin-operations.js';
import { numberOf, uuidOf } from '../filters.js';
import type { Plain } from '../plain.js';
import { SessionsQuery } from './session.dto.js';
import { SessionRecords } from './session.records.js';
import { SessionRecordAnswer, SessionRecordList, sessionRecordView } from './session.view.js';

const SESSION = { id: 'SessionRecord', one: 'a session', many: 'sessions' };
const RECORDS = {
  name: 'sessions',
  noun: 'session',
  idPrefix: 'sess',
  table: new SessionRecords(),
  view: sessionRecordView,
  refusals: {},
} as const;

@Controller('v1/admin/sessions')
export class SessionsController {
  constructor(private readonly desk: AdminDesk) {}

  @Lists(SESSION, SessionRecordList, { description: 'Of all accounts.', errors: ['INVALID_PHONE'] })
  async list(@Query(QueryPipe) query: SessionsQuery): Promise<Plain<SessionRecordList>> {
    const table = RECORDS.table.where({ phone: numberOf(query.phone), id: uuidOf('sess', query.id), test: query.test });
    return valueOf(await this.desk.list({ ...RECORDS, table }, query));
  }

  @Shows(SESSION, SessionRecordAnswer)
  async find(@Param('id') id: string): Promise<Plain<SessionRecordAnswer>> {
    return valueOf(await this.desk.find(RECORDS, id));
  }
}
