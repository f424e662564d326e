import { BindLeaseStore } from '@countersign/carriers/leases';
import { Database } from '@countersign/postgres';
import { applyDecorators, Controller, Get, Param } from '@nestjs/common';
import { succeed, valueOf, type Outcome } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import { findBind } from '../binds/find-bind.js';
import type { Plain } from '../crud/plain.js';
import { BindHistory, historyView } from './bind-history.view.js';

const ShowsHistory = (): MethodDecorator =>
  applyDecorators(
    Get(),
    Access({ access: 'admin', needs: 'binds.get-history', body: 'none' }),
    Operation({
      id: 'getBindHistory',
      tag: 'Admin',
      summary: 'Show what happened to the connections of a bind',
      description:
        'When each connection was bound and ended, and its errors, whichever gateway held it. The last 50 events of each connection are kept; an error that is repeated is one event with its first and last time.',
      answer: { status: 200, description: 'What happened, newest first.', type: BindHistory },
      errors: ['NOT_FOUND'],
    }),
  );

@Controller('v1/admin/binds/:id/history')
export class BindHistoryController {
  constructor(
    private readonly database: Database,
    private readonly leases: BindLeaseStore,
  ) {}

  @ShowsHistory()
  async show(@Param('id') id: string): Promise<Plain<BindHistory>> {
    return valueOf(await this.historyOf(id));
  }

  private async historyOf(id: string): Promise<Outcome<Plain<BindHistory>>> {
    const bind = await findBind(this.database, id);
    if (!bind.ok) return bind;
    return succeed(historyView(await this.leases.findEvents(this.database, bind.value.id)));
  }
}
