import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { applyDecorators, createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../admin/crud/admin-resource.js';
import type { ErrorCode } from '../http/errors.js';
import { CSV } from '../http/csv-answer.js';
import { actorOf } from '../http/console.authenticator.js';
import { Operation } from '../http/operation.js';
import { Access, type BodyKind } from '../http/route-access.js';

/** The holder of an account's key, or the member of the account, in a request: whose account it is, and who it is for the audit log. */
export interface Developer extends Actor {
  readonly caller: ApiKeyPrincipal;
}

/** The account's key of the request, as the one who makes a change. */
export const ByDeveloper = createParamDecorator((_: unknown, context: ExecutionContext): Developer => {
  const { caller, id, consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null || caller.kind === 'admin') throw new Error('account route was reached without an account key');
  const actor = consoleSession === null ? renderId('key', caller.keyId) : actorOf(consoleSession);
  return { caller, actor, requestId: id };
});

interface AccountCallText {
  /** The method name in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: BodyKind;
  readonly status?: 200 | 201 | 202;
  readonly type: Type;
  /** Whether the answer is a page. */
  readonly isPage?: boolean;
  readonly errors?: readonly ErrorCode[];
}

/** A call of `/v1/account`: the scope that it needs, and its API description. */
export const AccountCall = (text: AccountCallText): MethodDecorator => {
  const { id, summary, description, body = 'none', status = 200, type, isPage = false, errors = [] } = text;
  return applyDecorators(
    Access({ access: 'key', scope: 'account', body }),
    Operation({
      ...{ id, tag: 'Account', summary, errors },
      ...(description === undefined ? {} : { description }),
      answer: { status, description: 'The current state.', type, ...(isPage ? { alsoAs: CSV } : {}) },
    }),
  );
};
