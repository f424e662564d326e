import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { Controller, Get, Query } from '@nestjs/common';
import { CallerKey } from '../http/caller.decorator.js';
import { valueOf } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { QueryPipe } from '../http/query.pipe.js';
import { Access } from '../http/route-access.js';
import { UsageQuery } from './usage.query.js';
import { UsageService } from './usage.service.js';
import { UsageAnswer, type UsageReport } from './usage.view.js';

@Controller('v1/usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @Access({ access: 'key', scope: 'usage', body: 'none', policy: 'usage' })
  @Operation({
    id: 'getUsage',
    tag: 'Usage',
    summary: 'Report usage',
    description: 'Counts the sessions that were created from `from` (inclusive) to `to` (exclusive), with their cost.',
    answer: { status: 200, description: 'The usage report.', type: UsageAnswer },
    errors: [],
  })
  async report(@CallerKey() caller: ApiKeyPrincipal, @Query(QueryPipe) query: UsageQuery): Promise<UsageReport> {
    return valueOf(await this.usage.report(caller, query));
  }
}
