import { firstIdAt } from '@countersign/ids';
import type { Tenant } from '@countersign/keys';
import { Database, DatabaseClock, type Executor, type Page, type PageRequest } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { AdminService } from '../../admin/crud/admin.service.js';
import type { PageAnswer, PageQuery } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { AccountSlots } from '../../http/account-slots.js';
import type { Outcome } from '../../http/errors.js';
import { LIST_REQUESTS, PURGE_REQUESTS } from '../../operations/request-log.sql.js';
import type { Developer } from '../../http/developer.decorator.js';
import { requestLogView, type LoggedRequest, type RequestAnswer } from './request.view.js';

/** How long requests are kept (contract, Admin). */
const KEPT_MS = 7 * 24 * 3_600_000;

/** The log of the requests of an account in one mode. */
@Injectable()
export class RequestLogService {
  private readonly listSlots = new AccountSlots('lists of requests');

  constructor(
    private readonly database: Database,
    private readonly admin: AdminService,
    private readonly clock: DatabaseClock,
  ) {}

  list({ caller }: Developer, query: PageQuery): Promise<Outcome<PageAnswer<Plain<RequestAnswer>>>> {
    const table = { list: (db: Executor, page: PageRequest) => this.read(db, caller.tenant, page) };
    const list = { idPrefix: 'req', table, view: requestLogView } as const;
    return this.listSlots.run(caller.tenant, () => this.admin.list(list, query));
  }

  /** Deletes up to `limit` requests that are too old, and resolves with their number. */
  async purge(limit: number): Promise<number> {
    return (await this.database.query(PURGE_REQUESTS, [this.oldestKept(), limit])).length;
  }

  private async read(
    db: Executor,
    { accountId, mode }: Tenant,
    { limit, startingAfter }: PageRequest,
  ): Promise<Page<LoggedRequest>> {
    const values = [accountId, mode === 'test', this.oldestKept(), startingAfter, limit + 1];
    const rows = await db.query<LoggedRequest>(LIST_REQUESTS, values);
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  private oldestKept(): string {
    return firstIdAt(this.clock.nowMs() - KEPT_MS);
  }
}
