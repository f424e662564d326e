import { AUDIT_ENTRIES } from '@countersign/events';
import { Controller, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminDesk } from '../admin-desk.js';
import { ListsOnly } from '../admin-operations.js';
import { PageQuery } from '../paging.js';
import type { Plain } from '../plain.js';
import { AuditList, auditView } from './audit.view.js';

const AUDIT = { ids: 'AuditEntries', many: 'entries of the audit log' };
const ENTRIES = { idPrefix: 'aud', table: AUDIT_ENTRIES, view: auditView };

@Controller('v1/admin/audit')
export class AuditController {
  constructor(private readonly desk: AdminDesk) {}

  @ListsOnly(AUDIT, AuditList, { description: 'What engineers changed through this API, before and after.' })
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<AuditList>> {
    return valueOf(await this.desk.list(ENTRIES, query));
  }
}
