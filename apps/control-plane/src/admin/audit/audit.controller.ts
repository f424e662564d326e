import { AUDIT_ENTRIES } from '@countersign/events';
import { Controller, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminDesk } from '../admin-desk.js';
import { ListsOnly } from '../admin-operations.js';
import type { Plain } from '../plain.js';
import { AuditQuery } from './audit.dto.js';
import { AuditList, auditView } from './audit.view.js';

const AUDIT = { ids: 'AuditEntries', many: 'entries of the audit log' };

@Controller('v1/admin/audit')
export class AuditController {
  constructor(private readonly desk: AdminDesk) {}

  @ListsOnly(AUDIT, AuditList, {
    description: 'What engineers changed through this API, before and after, and which texts they read.',
  })
  async list(@Query(QueryPipe) query: AuditQuery): Promise<Plain<AuditList>> {
    const table = AUDIT_ENTRIES.where({ resource: query.resource, resource_id: query.resourceId });
    return valueOf(await this.desk.list({ idPrefix: 'aud', table, view: auditView }, query));
  }
}
