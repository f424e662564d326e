import { applyDecorators, Delete, Get, HttpCode, Patch, Post, type Type } from '@nestjs/common';
import type { ErrorCode } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';

/** How a kind of thing is spoken of: `{ id: 'Brand', one: 'a brand', many: 'brands' }`. */
export interface Spoken {
  /** In the names of operations, which generated clients use. */
  readonly id: string;
  readonly one: string;
  readonly many: string;
}

/** Things that are only listed: how they are spoken of, and where below the controller's path they are, if not there. */
export interface SpokenList {
  /** In the name of the operation, in the plural where it has one of its own. */
  readonly ids: string;
  readonly many: string;
  readonly path?: string;
}

interface More {
  readonly description?: string;
  readonly errors?: readonly ErrorCode[];
}

/*
 * One decorator a kind of handler: its route, who may call it (the admin key alone), and what the API description says.
 * A resource has those that make sense for it; any other method of its paths is 405 by itself.
 */

export const Lists = ({ id, many }: Spoken, type: Type, more: More = {}): MethodDecorator =>
  ListsOnly({ ids: `${id}s`, many }, type, more);

export const ListsOnly = (
  { ids, many, path = '' }: SpokenList,
  type: Type,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Get(path),
    Access({ access: 'admin', body: 'none' }),
    Operation({
      id: `list${ids}`,
      tag: 'Admin',
      summary: `List ${many}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 200, description: `A page of ${many}, newest first.`, type },
      errors,
    }),
  );

export const Creates = ({ id, one }: Spoken, type: Type, { description, errors = [] }: More = {}): MethodDecorator =>
  applyDecorators(
    Post(),
    Access({ access: 'admin', body: 'json' }),
    Operation({
      id: `create${id}`,
      tag: 'Admin',
      summary: `Make ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 201, description: 'What was made.', type },
      errors,
    }),
  );

export const Shows = ({ id, one }: Spoken, type: Type): MethodDecorator =>
  applyDecorators(
    Get(':id'),
    Access({ access: 'admin', body: 'none' }),
    Operation({
      id: `get${id}`,
      tag: 'Admin',
      summary: `Show ${one}`,
      answer: { status: 200, description: 'As it is now.', type },
      errors: ['NOT_FOUND'],
    }),
  );

const LEFT_OUT = 'What is left out stays as it is. Acts everywhere within 5 s.';

export const Updates = ({ id, one }: Spoken, type: Type, { description, errors = [] }: More = {}): MethodDecorator =>
  applyDecorators(
    Patch(':id'),
    Access({ access: 'admin', body: 'json' }),
    Operation({
      id: `update${id}`,
      tag: 'Admin',
      summary: `Change ${one}`,
      description: description === undefined ? LEFT_OUT : `${LEFT_OUT} ${description}`,
      answer: { status: 200, description: 'As it is now.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );

export const Deletes = ({ id, one }: Spoken, { description, errors = [] }: More = {}): MethodDecorator =>
  applyDecorators(
    Delete(':id'),
    HttpCode(204),
    Access({ access: 'admin', body: 'none' }),
    Operation({
      id: `delete${id}`,
      tag: 'Admin',
      summary: `Delete ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 204, description: 'It is gone.' },
      errors: ['NOT_FOUND', ...errors],
    }),
  );

/** POST `{id}/<action>`, without a body, 202 with the resource. */
export const Acts = (
  { id, one }: Spoken,
  action: { readonly name: string; readonly summary: string },
  type: Type,
  { description, errors = [] }: More = {},
): MethodDecorator =>
  applyDecorators(
    Post(`:id/${action.name}`),
    HttpCode(202),
    Access({ access: 'admin', body: 'none' }),
    Operation({
      id: `${action.name}${id}`,
      tag: 'Admin',
      summary: `${action.summary} ${one}`,
      ...(description === undefined ? {} : { description }),
      answer: { status: 202, description: 'As it is now.', type },
      errors: ['NOT_FOUND', ...errors],
    }),
  );
