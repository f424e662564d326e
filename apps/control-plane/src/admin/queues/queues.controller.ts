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

  @Lists(QUEUE, QueueList, { description: 'There are three. Their names stand in place of ids.' })
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<QueueList>> {
    return valueOf(await this.admin.list(this.queues, query));
  }

  @Shows(QUEUE, QueueAnswer)
  async find(@Param('id') name: string): Promise<Plain<QueueAnswer>> {
    return valueOf(await this.admin.find(this.queues, name));
  }

  @Acts(QUEUE, { name: 'pause', summary: 'Pause' }, QueueAnswer, {
    description:
      'Within 2 s nothing of it is begun anywhere; what is in flight is finished. Codes that wait for longer than their sessions last are given up all the same. While `cards` is paused none is offered, and sessions fall back to SMS at once.',
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
    description: 'Everywhere within 2 s. Again does nothing more.',
  })
  async resume(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<QueueAnswer>> {
    const resume = { id, action: 'resume' };
    return valueOf(await this.admin.act(this.queues, by, resume, (tx, queue) => this.queues.turn(tx, queue, false)));
  }

  @Acts(QUEUE, { name: 'retry-failed', summary: 'Try again what failed in' }, QueueAnswer, {
    description: `Up to ${MAX_RETRIED} at a time, and \`retried\` says how many. Webhooks that were given up, newest first, begin their schedule anew; those that are older than four days within ten minutes. Codes whose attempts came to nothing so far go to every route again, at once; one that was given up is not brought back, since its text was erased: its session sends another. Cards are never sent again: their sessions have gone another way.`,
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
