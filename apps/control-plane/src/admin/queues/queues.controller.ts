import { Body, Controller, Param, Query } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Lists, Shows } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { MAX_RETRIED, QueueResource } from './queue.resource.js';
import { QueueAnswer, QueueList } from './queue.view.js';

const QUEUE = { resource: 'queues', id: 'Queue', one: 'a queue', many: 'queues' } as const;

@Controller('v1/admin/queues')
export class QueuesController {
  constructor(
    private readonly admin: AdminService,
    private readonly queues: QueueResource,
  ) {}

  @Lists(QUEUE, QueueList, { description: 'There are three. Their names take the place of ids.' })
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<QueueList>> {
    return valueOf(await this.admin.list(this.queues, query));
  }

  @Shows(QUEUE, QueueAnswer)
  async find(@Param('id') name: string): Promise<Plain<QueueAnswer>> {
    return valueOf(await this.admin.find(this.queues, name));
  }

  @Acts(QUEUE, { name: 'pause', summary: 'Pause' }, QueueAnswer, {
    description:
      'Within 2 s no job of it is started anywhere; jobs in flight are finished. Codes that wait longer than their sessions last are still given up. While `cards` is paused no card is offered, and sessions fall back to SMS at once.',
  })
  async pause(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<QueueAnswer>> {
    const pause = { id, action: 'pause' };
    return valueOf(await this.admin.act(this.queues, by, pause, (tx, queue) => this.queues.turn(tx, queue, true)));
  }

  @Acts(QUEUE, { name: 'resume', summary: 'Resume' }, QueueAnswer, {
    description: 'Takes effect everywhere within 2 s. A repeated call changes nothing.',
  })
  async resume(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<QueueAnswer>> {
    const resume = { id, action: 'resume' };
    return valueOf(await this.admin.act(this.queues, by, resume, (tx, queue) => this.queues.turn(tx, queue, false)));
  }

  @Acts(QUEUE, { name: 'retry-failed', summary: 'Retry failed jobs of' }, QueueAnswer, {
    description: `Up to ${MAX_RETRIED} at a time; \`retried\` is their number. Webhooks that were given up restart their schedule, newest first; those older than four days within ten minutes. Codes without a successful attempt so far go to every route again, at once; a code that was given up is not retried, since its text was erased: its session sends another. Cards are never sent again: their sessions have fallen back to SMS.`,
  })
  async retryFailed(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<QueueAnswer>> {
    const retry = { id, action: 'retry-failed' };
    return valueOf(await this.admin.act(this.queues, by, retry, (tx, queue) => this.queues.retryFailed(tx, queue)));
  }
}
