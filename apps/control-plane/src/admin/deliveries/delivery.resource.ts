import { ServerKeys, tenantOf } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed } from '../../http/errors.js';
import { DeliveryRetries } from '../../webhooks/delivery-retries.js';
import type { AdminResource, Engineer, Reply } from '../crud/admin-resource.js';
import { uuidOf } from '../crud/filters.js';
import { maskedFor, viewFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import type { DeliveriesQuery } from './delivery.dto.js';
import { type DeliveryRecord, DeliveryRecords } from './delivery.records.js';
import {
  type DeliveryDetailAnswer,
  deliveryDetailView,
  type DeliveryRecordAnswer,
  deliveryRecordView,
  withoutPeople,
  withoutTokens,
} from './delivery.view.js';

type Answer = Plain<DeliveryDetailAnswer>;

@Injectable()
export class DeliveryResource implements AdminResource<DeliveryRecord, Answer> {
  readonly name = 'deliveries';
  readonly noun = 'delivery';
  readonly idPrefix = 'dlv';
  readonly showsPeople = true;
  readonly table = new DeliveryRecords();
  readonly refusals = {};
  readonly view = (row: DeliveryRecord): Answer => deliveryDetailView(row, this.bodyOf(row));
  /** Without the body. */
  readonly audited = deliveryRecordView;

  constructor(
    private readonly keys: ServerKeys,
    private readonly retries: DeliveryRetries,
  ) {}

  /** The deliveries with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<DeliveryRecord, Answer> {
    return maskedFor(by, this, withoutPeople);
  }

  /** The page of a query, without bodies. */
  listSeenBy(
    by: Engineer,
    { status, sessionId, test }: DeliveriesQuery,
  ): Pick<AdminResource<DeliveryRecord, Plain<DeliveryRecordAnswer>>, 'idPrefix' | 'view'> & {
    readonly table: Pick<DeliveryRecords, 'list'>;
  } {
    const view = viewFor(by.role, deliveryRecordView, withoutTokens);
    return {
      idPrefix: this.idPrefix,
      view,
      table: this.table.where({ status, session_id: uuidOf('sess', sessionId), test }),
    };
  }

  async retry(tx: Executor, row: DeliveryRecord): Reply<DeliveryRecord, Answer> {
    const retried = await this.retries.request(tx, tenantOf(row), row.id);
    if (retried === null) return { ok: false, refusal: this.retries.refusalOf(row) };
    return succeed({ row: { ...retried, test: row.test } });
  }

  private bodyOf({ id, bodySealed }: DeliveryRecord): string | null {
    return bodySealed === null ? null : this.keys.open('webhook-body', bodySealed, id).toString('utf8');
  }
}
