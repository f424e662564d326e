import {
  MAX_REPLACED_SECRETS,
  type AccountDirectory,
  type AccountStore,
  type ApiKeyPrincipal,
} from '@countersign/accounts/accounts';
import type { NewEvent } from '@countersign/events';
import { isTestMode, type Mode, type ServerKeys, type Tenant } from '@countersign/keys';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock } from '@countersign/postgres';
import type { Outbox } from '../events/outbox.js';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { FIND_DELIVERY, listDeliveries, RETRY_DELIVERY, type ListedDelivery } from './account-deliveries.sql.js';
import type { DeliveryStore } from './delivery.store.js';
import { DELIVERY_STATUSES, renderDelivery, type DeliveryRow, type RotatedSecretAnswer } from './delivery.view.js';
import type { ListDeliveries } from './list-deliveries.dto.js';

/** Recent attempts of one delivery after which no retry can be requested … */
export const MAX_RECENT_ATTEMPTS = 30;
/** … within this time: far more than the schedule makes. */
const RECENT_SECONDS = 3_600;

const NO_DEFAULT_URL: Readonly<Record<Mode, string>> = {
  live: 'url is required: the account has no default webhook URL.',
  test: 'url is required: the account has no testWebhookUrl, and test keys never use its default webhook URL.',
};

export interface WebhookDeliveriesServiceOptions {
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, 'newId' | 'nowMs'>;
  readonly keys: Pick<ServerKeys, 'open'>;
  readonly accounts: Pick<AccountDirectory, 'account'>;
  /** Called after the commit of a rotation. Must not throw. */
  readonly onRotated: (accountId: Uuid) => void;
  readonly accountStore: Pick<AccountStore, 'rotateWebhookSecret'>;
  readonly outbox: Pick<Outbox, 'dispatchNew'>;
  readonly store: Pick<DeliveryStore, 'lookBack'>;
  /** Called after the commit of a delivery to this URL that is due now. Must not throw. */
  readonly wakeFor: (url: string) => void;
}

/** The webhook requests of an account (contract, Webhooks). Deliveries are rendered as JSON text. */
export class WebhookDeliveriesService {
  constructor(private readonly options: WebhookDeliveriesServiceOptions) {}

  /**
   * One page of the tenant's deliveries, newest first. A page begins after one of them; with large bodies it has fewer than
   * `limit` (see PAGE_BODY_OCTETS).
   */
  async list({ tenant }: ApiKeyPrincipal, query: ListDeliveries): Promise<Outcome<string>> {
    const { status, limit, startingAfter } = query;
    const after = startingAfter === undefined ? null : await this.row(tenant, startingAfter);
    if (startingAfter !== undefined && after === null) {
      const message = 'startingAfter is not the id of a delivery that this key may see.';
      return refuse('VALIDATION_ERROR', { message, field: 'startingAfter' });
    }
    const statuses = status === undefined ? DELIVERY_STATUSES : [status];
    const values = [tenant.accountId, after?.id ?? null, Number(limit) + 1, isTestMode(tenant)];
    const rows = await this.options.database.query<ListedDelivery>(listDeliveries(statuses), values);
    const data = rows.slice(0, Number(limit)).map((row) => this.render(row));
    return succeed(`{"data":[${data.join(',')}],"hasMore":${(rows[0]?.found ?? 0) > data.length}}`);
  }

  async find({ tenant }: ApiKeyPrincipal, deliveryId: string): Promise<Outcome<string>> {
    return this.shown(await this.row(tenant, deliveryId));
  }

  /** Requests one more attempt, at once and beside the schedule, unless there were too many recent ones. */
  async retry({ tenant }: ApiKeyPrincipal, deliveryId: string): Promise<Outcome<string>> {
    const id = parseId('dlv', deliveryId);
    if (id === null) return this.shown(null);
    const { database, store, wakeFor } = this.options;
    const values = [id, tenant.accountId, MAX_RECENT_ATTEMPTS, RECENT_SECONDS, isTestMode(tenant)];
    const [retried] = await database.query<DeliveryRow>(RETRY_DELIVERY, values);
    if (retried === undefined) return this.notRetried(await this.row(tenant, deliveryId));
    store.lookBack();
    wakeFor(retried.url);
    return this.shown(retried);
  }

  /** Sends a `webhook.test` to the URL, by default to the account's URL of the key's mode, like every other event. */
  async test({ tenant }: ApiKeyPrincipal, url: string | undefined): Promise<Outcome<string>> {
    const target = url ?? (await this.defaultUrl(tenant));
    if (target === null) return refuse('VALIDATION_ERROR', { message: NO_DEFAULT_URL[tenant.mode], field: 'url' });
    const event = this.testEvent(tenant, new URL(target).href);
    await this.options.outbox.dispatchNew(event);
    const [made] = await this.options.database.query<DeliveryRow>(FIND_DELIVERY, [
      event.id,
      tenant.accountId,
      isTestMode(tenant),
    ]);
    this.options.wakeFor(made?.url ?? target);
    return this.shown(made ?? null);
  }

  /** Creates a secret, shown in this response only. Each replaced secret signs too for a day from its replacement. */
  async rotateSecret({ tenant }: ApiKeyPrincipal): Promise<Outcome<RotatedSecretAnswer>> {
    const { database, accountStore, onRotated } = this.options;
    const rotation = await database.transaction((tx) => accountStore.rotateWebhookSecret(tx, tenant));
    if (!rotation.ok) {
      const message = `${MAX_REPLACED_SECRETS} secrets that were replaced sign still; there is room for another when the first of them is over.`;
      return refuse('RATE_LIMITED', { message, retryAfterSeconds: rotation.retryAfterSeconds });
    }
    onRotated(tenant.accountId);
    return succeed({ secret: rotation.secret, previousValidUntil: rotation.previousUntil.toISOString() });
  }

  private async defaultUrl({ accountId, mode }: Tenant): Promise<string | null> {
    const account = await this.options.accounts.account(accountId);
    return (mode === 'test' ? account?.testWebhookUrl : account?.defaultWebhookUrl) ?? null;
  }

  private testEvent(tenant: Tenant, url: string): NewEvent {
    const { clock } = this.options;
    const { accountId } = tenant;
    return {
      id: clock.newId(),
      type: 'webhook.test',
      accountId,
      test: isTestMode(tenant),
      sessionId: null,
      occurredAt: new Date(clock.nowMs()),
      data: JSON.stringify({ accountId: renderId('acct', accountId) }),
      sessionWebhookUrl: url,
    };
  }

  private async row(tenant: Tenant, deliveryId: string): Promise<DeliveryRow | null> {
    const id = parseId('dlv', deliveryId);
    if (id === null) return null;
    const [row] = await this.options.database.query<DeliveryRow>(FIND_DELIVERY, [
      id,
      tenant.accountId,
      isTestMode(tenant),
    ]);
    return row ?? null;
  }

  private notRetried(row: DeliveryRow | null): Outcome<string> {
    if (row === null) return this.shown(null);
    const message = `This delivery was tried ${MAX_RECENT_ATTEMPTS} times within the hour.`;
    const nowMs = this.options.clock.nowMs();
    const counted = row.attempts.at(-MAX_RECENT_ATTEMPTS);
    const leftMs = counted === undefined ? 0 : Date.parse(counted.at) + RECENT_SECONDS * 1000 - nowMs;
    return refuse('RATE_LIMITED', { message, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) });
  }

  private shown(row: DeliveryRow | null): Outcome<string> {
    const message = 'There is no delivery with this id.';
    return row === null ? refuse('NOT_FOUND', { message }) : succeed(this.render(row));
  }

  private render(row: DeliveryRow): string {
    const { id, bodySealed } = row;
    const body = bodySealed === null ? null : this.options.keys.open('webhook-body', bodySealed, id).toString('utf8');
    return renderDelivery(row, body);
  }
}
