import { applyDecorators, Delete, Get, HttpCode, Patch, Post, type Type } from '@nestjs/common';
import {
  type AdminPermission,
  isAdminPermission,
  type ResourceWith,
  type RestrictedParameter,
} from '../../http/admin-policy.js';
import { CSV } from '../../http/csv-answer.js';
import type { ErrorCode } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';

/**
 * The names of a resource in routes and descriptions: `{ resource: 'brands', id: 'Brand', one: 'a brand', many:
 * 'brands' }`.
 */
interface ResourceNames<Resource extends string = string> {
  /** Its name in ADMIN_POLICY. */
  readonly resource: Resource;
  /** Part of the operation ids, which generated clients use as names. */
  readonly id: string;
  readonly one: string;
  readonly many: string;
}

/** The names of a list without a resource of its own, and its path below the controller's, if any. */
interface ListNames {
  /** The permission in ADMIN_POLICY. */
  readonly needs: AdminPermission;
  /** Part of the operation id, in the plural. */
  readonly ids: string;
  readonly many: string;
  readonly path?: string;
}

interface Details {
  readonly description?: string;
  readonly errors?: readonly ErrorCode[];
}

interface ListDetails extends Details {
  /** Query parameters that need a further right. */
  readonly restricted?: readonly RestrictedParameter[];
}

/*
 * One decorator per kind of handler: its route, the roles of admin keys that may call it, and its API description. A
 * resource uses those that it supports; any other method of its paths is 405.
 */

export const Lists = (
  { resource, id, many }: ResourceNames<ResourceWith<'list'>>,
  type: Type,
  more: ListDetails = {},
): MethodDecorator => ListsOnly({ needs: `${resource}.list`, ids: `${id}s`, many }, type, more);

export const ListsOnly = (
  { needs, ids, many, path = '' }: ListNames,
  type: Type,
  { description, errors = [], restricted = [] }: ListDetails = {},
): MethodDecorator =>
  applyDecorators(
    Get(path),
    Access({ access: 'admin', needs, restricted, body: 'none' }),
    Operation({
      id: `list${ids}`,
      tag: 'Admin',
      summary: `List ${many}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 200, description: `A page of ${many}, newest first.`, type, alsoAs: CSV },
      errors,
    }),
  );

export const Creates = (
  { resource, id, one }: ResourceNames<ResourceWith<'create'>>,
  type: Type,
  { description, errors = [] }: Details = {},
): MethodDecorator =>
  applyDecorators(
    Post(),
    Access({ access: 'admin', needs: `${resource}.create`, body: 'json' }),
    Operation({
      id: `create${id}`,
      tag: 'Admin',
      summary: `Make ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 201, description: 'The created resource.', type },
      errors,
    }),
  );

export const Shows = ({ resource, id, one }: ResourceNames<ResourceWith<'get'>>, type: Type): MethodDecorator =>
  applyDecorators(
    Get(':id'),
    Access({ access: 'admin', needs: `${resource}.get`, body: 'none' }),
    Operation({
      id: `get${id}`,
      tag: 'Admin',
      summary: `Show ${one}`,
      answer: { status: 200, description: 'The current state.', type },
      errors: ['NOT_FOUND'],
    }),
  );

const OMITTED_FIELDS = 'Omitted fields are unchanged. Takes effect everywhere within 5 s.';

export const Updates = (
  { resource, id, one }: ResourceNames<ResourceWith<'update'>>,
  type: Type,
  { description, errors = [] }: Details = {},
): MethodDecorator =>
  applyDecorators(
    Patch(':id'),
    Access({ access: 'admin', needs: `${resource}.update`, body: 'json' }),
    Operation({
      id: `update${id}`,
      tag: 'Admin',
      summary: `Change ${one}`,
      description: description === undefined ? OMITTED_FIELDS : `${OMITTED_FIELDS} ${description}`,
      answer: { status: 200, description: 'The current state.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );

export const Deletes = (
  { resource, id, one }: ResourceNames<ResourceWith<'delete'>>,
  { description, errors = [] }: Details = {},
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
      answer: { status: 204, description: 'It is deleted.' },
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
  if (!isAdminPermission(permission)) throw new Error(`ADMIN_POLICY has no permission ${permission}`);
  return permission;
}

/** POST `{id}/<action>`, without a body, 202 with the resource. */
export const Acts = <Name extends ActionName>(
  { resource, id, one }: ResourceNames<ResourceWith<Name>>,
  action: { readonly name: Name; readonly summary: string },
  type: Type,
  { description, errors = [] }: Details = {},
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
      answer: { status: 202, description: 'The current state.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );
