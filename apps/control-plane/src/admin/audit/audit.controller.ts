import { AUDIT_ENTRIES } from '@countersign/events';
import { Controller, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AuditedReads } from '../crud/audited-reads.js';
import { ListsOnly } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { showsPeople, viewFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { AuditQuery } from './audit.dto.js';
import { AuditList, auditView, withoutPeople } from './audit.view.js';

const AUDIT = { needs: 'audit.list', ids: 'AuditEntries', many: 'entries of the audit log' } as const;

@Controller('v1/admin/audit')
export class AuditController {
  constructor(private readonly reads: AuditedReads) {}

  @ListsOnly(AUDIT, AuditList, {
    description:
      'Changes through this API, with the states before and after; reads of people’s data (`read`) and of texts (`reveal`). A role that sees people’s data in full adds an entry with each page that has some. The entry of a list read has the id `list`, its filter with the phone masked, and the count, first and last id of its page. Of texts above 2,048 characters an entry has the beginning, the length and the SHA-256. A page ends early where its states have more than 512 KiB.',
  })
  async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: AuditQuery): Promise<Plain<AuditList>> {
    const { resource, resourceId } = query;
    const table = AUDIT_ENTRIES.where({ resource, resource_id: resourceId });
    const entries = { name: 'audit', idPrefix: 'aud', table, view: viewFor(by.role, auditView, withoutPeople) };
    const holdsPeople = showsPeople(withoutPeople);
    return valueOf(await this.reads.list(entries, by, { query, filter: { resource, resourceId }, holdsPeople }));
  }
}
