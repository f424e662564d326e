import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { actorOf } from '../http/console.authenticator.js';

/**
 * Deliveries contain people's data. A read by an owner of the installation, for an account, has an entry of the audit log that is
 * written before the answer; reads by the account itself have none.
 */
@Injectable()
export class OwnerReadsInterceptor implements NestInterceptor {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { consoleSession, caller, id: requestId } = request;
    if (consoleSession === null || consoleSession.accountId !== null || caller === null || caller.kind === 'admin')
      return next.handle();
    const { accountId, mode } = caller.tenant;
    const path = request.url.split('?', 1)[0] ?? '';
    await this.audit.append(this.database, {
      ...{ actor: actorOf(consoleSession), requestId, action: 'read', resource: 'deliveries' },
      ...{ resourceId: renderId('acct', accountId), before: null, after: { mode, path } },
    });
    return next.handle();
  }
}
