import { applyDecorators, Controller, Get, Param } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { TimelineService } from './timeline.service.js';
import { SessionTimeline } from './timeline.view.js';

const ShowsTimeline = (): MethodDecorator =>
  applyDecorators(
    Get(),
    Access({ access: 'admin', needs: 'sessions.timeline', body: 'none' }),
    Operation({
      id: 'getSessionTimeline',
      tag: 'Admin',
      summary: 'Show everything that happened to a session',
      description:
        'Oldest first: its creation, its card with the platform’s events, each SMS that named it with its PDU while a bind’s trace has it, codes with each attempt over each bind, refusals of the guard, its end, the broadcast of its events and each attempt of its webhooks. At most 500 entries. A key that sees full phones adds an entry to the audit log. Phones are masked for `viewer`.',
      answer: { status: 200, description: 'What happened, oldest first.', type: SessionTimeline },
      errors: ['NOT_FOUND'],
    }),
  );

@Controller('v1/admin/sessions/:id/timeline')
export class TimelineController {
  constructor(private readonly timelines: TimelineService) {}

  @ShowsTimeline()
  async show(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<Plain<SessionTimeline>> {
    return valueOf(await this.timelines.show(id, by));
  }
}
