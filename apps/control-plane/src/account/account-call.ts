import type { Scope } from '@countersign/accounts/accounts';
import { applyDecorators, type Type } from '@nestjs/common';
import type { ErrorCode } from '../http/errors.js';
import { CSV } from '../http/csv-answer.js';
import { Operation } from '../http/operation.js';
import { Access, type BodyKind } from '../http/route-access.js';

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
  /** The scopes of the key that a member's session must be confirmed with, see RouteAccess. */
  readonly confirmedWith?: readonly Scope[];
}

/** A call of `/v1/account`: the scope that it needs, and its API description. */
export const AccountCall = (text: AccountCallText): MethodDecorator => {
  const { id, summary, description, body = 'none', status = 200, type, isPage = false, errors = [] } = text;
  const { confirmedWith } = text;
  const refusals: readonly ErrorCode[] =
    confirmedWith === undefined ? errors : ['CONFIRMATION_REQUIRED', 'CONFLICT', ...errors];
  return applyDecorators(
    Access({ access: 'key', scope: 'account', body, ...(confirmedWith === undefined ? {} : { confirmedWith }) }),
    Operation({
      ...{ id, tag: 'Account', summary, errors: refusals },
      ...(description === undefined ? {} : { description }),
      answer: { status, description: 'The current state.', type, ...(isPage ? { alsoAs: CSV } : {}) },
    }),
  );
};
