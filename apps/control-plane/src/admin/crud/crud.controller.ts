import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Body, Param, Query, type Type } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import type { AdminResource, CrudResource, Engineer, Reply } from './admin-resource.js';
import { AdminService } from './admin.service.js';
import { AuditedReads, type Identified } from './audited-reads.js';
import { ByEngineer } from './engineer.decorator.js';
import { AccountPageQuery, type PageAnswer, PageQuery } from './paging.js';

/** The five calls of a resource, as decorators of `admin-operations.ts`, and the classes of its bodies. */
interface CrudOperations<View, Draft, Change> {
  readonly list: MethodDecorator;
  readonly create: MethodDecorator;
  readonly get: MethodDecorator;
  readonly update: MethodDecorator;
  /** Absent for a resource that cannot be deleted. */
  readonly delete?: MethodDecorator;
  /** Default: the query of every list. */
  readonly query?: Type<AccountPageQuery>;
  readonly draft: Type<Draft>;
  readonly change: Type<Change>;
  /** Whether a view, or every view, holds people's data, so that reads of it in full are audited. */
  readonly holdsPeople?: boolean | ((view: View) => boolean);
}

const noOperation: MethodDecorator = () => undefined;

function seenBy<Row extends { readonly id: Uuid }, View extends object>(
  resource: AdminResource<Row, View> & Pick<CrudResource<Row, View, unknown, unknown>, 'seenBy'>,
  by: Engineer,
): AdminResource<Row, View> {
  return resource.seenBy?.(by) ?? resource;
}

const filterOf = (query: PageQuery): object =>
  query instanceof AccountPageQuery ? { accountId: query.accountId } : {};

/** The base class of a controller with the five calls of a resource. Nest reads the classes of parameters from metadata. */
export function CrudController<Row extends { readonly id: Uuid }, View extends Identified, Draft, Change, Resource>(
  resourceClass: Type<Resource & CrudResource<Row, View, Draft, Change>>,
  { holdsPeople = false, ...operations }: CrudOperations<View, Draft, Change>,
) {
  const personal = typeof holdsPeople === 'function' ? { holdsPeople } : {};

  abstract class Controller {
    /** A provider of the module of the controller. */
    static readonly resourceClass: Type = resourceClass;

    constructor(
      protected readonly admin: AdminService,
      protected readonly resource: Resource & CrudResource<Row, View, Draft, Change>,
      private readonly reads: AuditedReads,
    ) {}

    @operations.list
    async list(@ByEngineer() by: Engineer, @Query(QueryPipe) query: PageQuery): Promise<PageAnswer<View>> {
      const seen = seenBy(this.resource, by);
      if (holdsPeople === false) return valueOf(await this.admin.list(seen, query));
      return valueOf(await this.reads.list(seen, by, { query, filter: filterOf(query), ...personal }));
    }

    @operations.create
    async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: Draft): Promise<View> {
      return valueOf(await this.admin.create(this.resource, by, (tx) => this.resource.create(tx, body, by)));
    }

    @operations.get
    async find(@ByEngineer() by: Engineer, @Param('id') id: string): Promise<View> {
      const seen = seenBy(this.resource, by);
      if (holdsPeople === false) return valueOf(await this.admin.find(seen, id));
      return valueOf(await this.reads.find(seen, by, id, personal));
    }

    @operations.update
    async update(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(BodyPipe) body: Change): Promise<View> {
      return this.act(by, id, 'update', (tx, row) => this.resource.update(tx, row, body, by));
    }

    @(operations.delete ?? noOperation)
    async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
      valueOf(await this.admin.remove(this.resource, by, id, async (tx, row) => this.resource.delete?.(tx, row)));
    }

    /** `action` is the name in the audit log. */
    protected async act(
      by: Engineer,
      id: string,
      action: string,
      write: (tx: Executor, row: Row) => Reply<Row, View>,
    ): Promise<View> {
      return valueOf(await this.admin.act(this.resource, by, { id, action }, write));
    }
  }
  Reflect.defineMetadata('design:paramtypes', [AdminService, resourceClass, AuditedReads], Controller);
  const typed = { list: [Object, operations.query ?? PageQuery], create: [Object, operations.draft] };
  for (const [method, types] of Object.entries({ ...typed, update: [Object, String, operations.change] }))
    Reflect.defineMetadata('design:paramtypes', types, Controller.prototype, method);
  return Controller;
}
