import { Controller, Get, Query } from '@nestjs/common';
import { PageQuery, type PageAnswer } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { ByDeveloper, type Developer } from '../../http/developer.decorator.js';
import { AccountCall } from '../account-call.js';
import { RequestLogService } from './request-log.service.js';
import { RequestAnswer, RequestList } from './request.view.js';

@Controller('v1/account/requests')
export class RequestsController {
  constructor(private readonly log: RequestLogService) {}

  @Get()
  @AccountCall({
    id: 'listAccountRequests',
    summary: 'List requests',
    description:
      'Requests with the keys of the account, of the mode of this key: those with an error and a sample of 1 % of the rest, newest first, for 7 days. They appear within seconds, without bodies and with phones masked. Of very many errors in a second some are left out.',
    type: RequestList,
    isPage: true,
  })
  async list(
    @ByDeveloper() by: Developer,
    @Query(QueryPipe) query: PageQuery,
  ): Promise<PageAnswer<Plain<RequestAnswer>>> {
    return valueOf(await this.log.list(by, query));
  }
}
