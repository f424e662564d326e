import { applyDecorators, Delete, Get, HttpCode, Patch, Post, type Type } from '@nestjs/common';
import {
  type AdminPermission,
  isAdminPermission,
  type ResourceWith,
  type RestrictedParameter,
} from '../../http/admin-policy.js';
import type { ErrorCode } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';

/** The names of a resource in routes and descriptions: `{ resource: 'brands', id: 'Brand', one: 'a brand', many: 'brands' }`. */
interface Spoken<Resource extends string = string> {
  /** Its name in ADMIN_POLICY. */
  readonly resource: Resource;
  /** In the names of operations, which generated clients use. */
  readonly id: string;
  readonly one: string;
  readonly many: string;
}

/** Things that are only listed: how they are spoken of, and where below the controller's path they are, if not there. */
interface SpokenList {
  /** The permission in ADMIN_POLICY. */
  readonly needs: AdminPermission;
  /** In the name of the operation, in the plural where it has one of its own. */
  readonly ids: string;
  readonly many: string;
  readonly path?: string;
}

interface More {
  readonly description?: string;
  readonly errors?: readonly ErrorCode[];
}

interface MoreOfList extends More {
  /** Query parameters that need a further right. */
  readonly restricted?: readonly RestrictedParameter[];
}

/*
 * One decorator a kind of handler: its route, the roles of admin keys that may call it, and what the API description says.
 * A resource has those that make sense for it; any other method of its paths is 405 by itself.
 */

export const Lists = (
  { resource, id, many }: Spoken<ResourceWith<'list'>>,
  type: Type,
  more: MoreOfList = {},
): MethodDecorator => ListsOnly({ needs: `${resource}.list`, ids: `${id}s`, many }, type, more);

export const ListsOnly = (
  { needs, ids, many, path = '' }: SpokenList,
  type: Type,
  { description, errors = [], restricted = [] }: MoreOfList = {},
): MethodDecorator =>
  applyDecorators(
    Get(path),
    Access({ access: 'admin', needs, restricted, body: 'none' }),
    Operation({
      id: `list${ids}`,
      tag: 'Admin',
      summary: `List ${many}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 200, description: `A page of ${many}, newest first.`, type },
      errors,
    }),
  );

export const Creates = (
  { resource, id, one }: Spoken<ResourceWith<'create'>>,
  type: Type,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Post(),
    Access({ access: 'admin', needs: `${resource}.create`, body: 'json' }),
    Operation({
      id: `create${id}`,
      tag: 'Admin',
      summary: `Make ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 201, description: 'What was made.', type },
      errors,
    }),
  );

export const Shows = ({ resource, id, one }: Spoken<ResourceWith<'get'>>, type: Type): MethodDecorator =>
  applyDecorators(
    Get(':id'),
    Access({ access: 'admin', needs: `${resource}.get`, body: 'none' }),
    Operation({
      id: `get${id}`,
      tag: 'Admin',
      summary: `Show ${one}`,
      answer: { status: 200, description: 'As it is now.', type },
      errors: ['NOT_FOUND'],
    }),
  );

const LEFT_OUT = 'What is left out stays as it is. Acts everywhere within 5 s.';

export const Updates = (
  { resource, id, one }: Spoken<ResourceWith<'update'>>,
  type: Type,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Patch(':id'),
    Access({ access: 'admin', needs: `${resource}.update`, body: 'json' }),
    Operation({
      id: `update${id}`,
      tag: 'Admin',
      summary: `Change ${one}`,
      description: description === undefined ? LEFT_OUT : `${LEFT_OUT} ${description}`,
      answer: { status: 200, description: 'As it is now.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );

export const Deletes = (
  { resource, id, one }: Spoken<ResourceWith<'delete'>>,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Delete(':id'),
    HttpCode(204),
    Access({ access: 'admin', needs: `${resource}.delete`, body: 'none' }),
    Operation({
      id: `delete${id}`,
      tag: 'Admin',
      summary: `Delete ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 204, description: 'It is gone.' },
      errors: ['NOT_FOUND', ...errors],
    }),
  );

/** Actions of ADMIN_POLICY: the part after the resource. */
type ActionName = AdminPermission extends infer Permission
  ? Permission extends `${string}.${infer Name}`
    ? Name
    : never
  : never;

function permissionOf(resource: string, action: string): AdminPermission {
  const permission = `${resource}.${action}`;
  if (!isAdminPermission(permission)) throw new Error(`the policy of roles has no ${permission}`);
  return permission;
}

/** POST `{id}/<action>`, without a body, 202 with the resource. */
export const Acts = <Name extends ActionName>(
  { resource, id, one }: Spoken<ResourceWith<Name>>,
  action: { readonly name: Name; readonly summary: string },
  type: Type,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Post(`:id/${action.name}`),
    HttpCode(202),
    Access({ access: 'admin', needs: permissionOf(resource, action.name), body: 'none' }),
    Operation({
      id: `${action.name}${id}`,
      tag: 'Admin',
      summary: `${action.summary} ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 202, description: 'As it is now.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );
