import { applyDecorators, Controller, Get, Query } from '@nestjs/common';
import { valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { Access } from '../../http/route-access.js';
import type { Plain } from '../crud/plain.js';
import { OverviewQuery } from './overview.query.js';
import { OverviewService } from './overview.service.js';
import { OverviewAnswer } from './overview.view.js';

const ShowsOverview = (): MethodDecorator =>
  applyDecorators(
    Get(),
    Access({ access: 'admin', needs: 'overview.list', body: 'none' }),
    Operation({
      id: 'getOverview',
      tag: 'Admin',
      summary: 'Show the funnel of all accounts',
      description:
        'Sessions that were created in the window, what became of them, times to approve, codes and spend, of all accounts of one mode. Read from sums by minute and hour.',
      answer: { status: 200, description: 'The funnel.', type: OverviewAnswer },
      errors: [],
    }),
  );

@Controller('v1/admin/overview')
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  @ShowsOverview()
  async show(@Query(QueryPipe) query: OverviewQuery): Promise<Plain<OverviewAnswer>> {
    return valueOf(await this.overview.show(query));
  }
}
