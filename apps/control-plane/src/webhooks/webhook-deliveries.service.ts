import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { isTestMode, ServerKeys, type Tenant } from '@countersign/keys';
import { parseId, type Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { AccountSlots } from '../http/account-slots.js';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { FIND_DELIVERY, listDeliveries, type ListedDelivery } from './account-deliveries.sql.js';
import { DeliveryRetries } from './delivery-retries.js';
import { DELIVERY_STATUSES, renderDelivery, renderMaskedDelivery, type DeliveryRow } from './delivery.view.js';
import type { ListDeliveries } from './list-deliveries.dto.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** Shows and retries the deliveries of an account (contract, Webhooks). Deliveries are rendered as JSON text. */
@Injectable()
export class WebhookDeliveriesService {
  private readonly listSlots = new AccountSlots('lists of deliveries');

  constructor(
    private readonly database: Database,
    private readonly keys: ServerKeys,
    private readonly retries: DeliveryRetries,
    private readonly dispatcher: WebhookDispatcher,
  ) {}

  /**
   * One page of the tenant's deliveries, newest first. A page begins after one of them; with large bodies it has fewer than
   * `limit` (see PAGE_BODY_OCTETS).
   *
   * @param seesPeople whether the reader sees people's data; else they are masked
   */
  list({ tenant }: ApiKeyPrincipal, query: ListDeliveries, seesPeople: boolean): Promise<Outcome<string>> {
    return this.listSlots.run(tenant, () => this.page(tenant, query, seesPeople));
  }

  private async page(tenant: Tenant, query: ListDeliveries, seesPeople: boolean): Promise<Outcome<string>> {
    const { status, limit, startingAfter } = query;
    const after = startingAfter === undefined ? null : await this.row(tenant, startingAfter);
    if (startingAfter !== undefined && after === null) {
      const message = 'startingAfter is not the id of a delivery that this key may see.';
      return refuse('VALIDATION_ERROR', { message, field: 'startingAfter' });
    }
    const statuses = status === undefined ? DELIVERY_STATUSES : [status];
    const values = [tenant.accountId, after?.id ?? null, Number(limit) + 1, isTestMode(tenant)];
    const rows = await this.database.reports.query<ListedDelivery>(listDeliveries(statuses), values);
    const data = rows.slice(0, Number(limit)).map((row) => this.render(row, seesPeople));
    return succeed(`{"data":[${data.join(',')}],"hasMore":${(rows[0]?.found ?? 0) > data.length}}`);
  }

  async find({ tenant }: ApiKeyPrincipal, deliveryId: string, seesPeople: boolean): Promise<Outcome<string>> {
    return this.shown(await this.row(tenant, deliveryId), seesPeople);
  }

  /** Requests one more attempt, at once and beside the schedule, unless there were too many recent ones. */
  async retry({ tenant }: ApiKeyPrincipal, deliveryId: string): Promise<Outcome<string>> {
    const id = parseId('dlv', deliveryId);
    if (id === null) return this.shown(null);
    const retried = await this.retries.request(this.database, tenant, id);
    if (retried === null) return this.notRetried(await this.row(tenant, deliveryId));
    this.retries.wake(retried.url);
    return this.shown(retried);
  }

  /** Shows a delivery that was just created, and has it sent at once. `url` is its URL as requested. */
  async sendNew({ tenant }: ApiKeyPrincipal, id: Uuid, url: string): Promise<Outcome<string>> {
    const created = await this.findRow(tenant, id);
    this.dispatcher.wakeFor(created?.url ?? url);
    return this.shown(created);
  }

  private async row(tenant: Tenant, deliveryId: string): Promise<DeliveryRow | null> {
    const id = parseId('dlv', deliveryId);
    return id === null ? null : this.findRow(tenant, id);
  }

  private async findRow(tenant: Tenant, id: Uuid): Promise<DeliveryRow | null> {
    const values = [id, tenant.accountId, isTestMode(tenant)];
    const [row] = await this.database.query<DeliveryRow>(FIND_DELIVERY, values);
    return row ?? null;
  }

  private notRetried(row: DeliveryRow | null): Outcome<string> {
    if (row === null) return this.shown(null);
    return { ok: false, refusal: this.retries.refusalOf(row) };
  }

  private shown(row: DeliveryRow | null, seesPeople = true): Outcome<string> {
    const message = 'There is no delivery with this id.';
    return row === null ? refuse('NOT_FOUND', { message }) : succeed(this.render(row, seesPeople));
  }

  private render(row: DeliveryRow, seesPeople: boolean): string {
    const { id, bodySealed } = row;
    const body = bodySealed === null ? null : this.keys.open('webhook-body', bodySealed, id).toString('utf8');
    return seesPeople ? renderDelivery(row, body) : renderMaskedDelivery(row, body);
  }
}
