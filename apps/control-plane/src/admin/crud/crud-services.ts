import { AdminService } from './admin.service.js';
import { AuditedReads } from './audited-reads.js';
import { EngineerRights } from './engineer-rights.js';

/** The services that all resources of the admin API share. */
export const CRUD_SERVICES = [AdminService, AuditedReads, EngineerRights] as const;
