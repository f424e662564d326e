import { Controller, Param, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { Lists, Shows } from '../crud/admin-operations.js';
import type { AdminResource, Engineer } from '../crud/admin-resource.js';
import { AuditedReads } from '../crud/audited-reads.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { maskedNumberOf, numberOf, uuidOf } from '../crud/filters.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { SessionsQuery } from './session.dto.js';
import { SessionRecords, type SessionWithCard } from './session.records.js';
import { SessionRecordAnswer, SessionRecordList, sessionRecordView, withoutPerson } from './session.view.js';

const SESSION = { resource: 'sessions', id: 'SessionRecord', one: 'a session', many: 'sessions' } as const;
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
  constructor(private readonly reads: AuditedReads) {}

  @Lists(SESSION, SessionRecordList, {
    description: 'Sessions of all accounts. A key that sees full phones adds an entry to the audit log with each page.',
    errors: ['INVALID_PHONE'],
    restricted: [{ name: 'phone', right: 'searchByPhone' }],
  })
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: SessionsQuery): Promise<Plain<SessionRecordList>> {
    const phone = numberOf(query.phone);
    const { id, test } = query;
    const shown = { ...recordsFor(by), table: RECORDS.table.where({ phone, id: uuidOf('sess', id), test }) };
    return valueOf(
      await this.reads.list(shown, by, { query, filter: { phone: maskedNumberOf(query.phone), id, test } }),
    );
  }

  @Shows(SESSION, SessionRecordAnswer)
  async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<SessionRecordAnswer>> {
    return valueOf(await this.reads.find(recordsFor(by), by, id));
  }
}

const recordsFor = (by: Engineer): AdminResource<SessionWithCard, Plain<SessionRecordAnswer>> =>
  maskedFor(by, RECORDS, withoutPerson);
