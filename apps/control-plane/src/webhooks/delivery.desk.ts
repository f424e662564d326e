import { type AccountDirectory, type AccountStore, type ApiKeyPrincipal } from '@countersign/accounts';
import type { NewEvent } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import { parseId, RecordTable, renderId, type Database, type DatabaseClock, type Uuid } from '@countersign/postgres';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { DELIVERY, FIND_DELIVERY, RETRY_DELIVERY } from './account-deliveries.sql.js';
import type { DeliveryStore } from './delivery.store.js';
import { renderDelivery, type DeliveryRow, type RotatedSecretAnswer } from './delivery.view.js';
import type { ListDeliveries } from './list-deliveries.dto.js';

const DELIVERIES = new RecordTable<DeliveryRow>({ table: 'deliveries', columns: DELIVERY, owner: 'account_id' });

export interface DeliveryDeskOptions {
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, 'newId' | 'nowMs'>;
  readonly keys: Pick<ServerKeys, 'open'>;
  readonly accounts: Pick<AccountDirectory, 'account'>;
  readonly accountStore: Pick<AccountStore, 'rotateWebhookSecret'>;
  readonly store: Pick<DeliveryStore, 'dispatchNew' | 'lookBack'>;
  /** Something is to be sent there now, after its commit. Must not throw. */
  readonly wakeFor: (url: string) => void;
}

/** What an account does with its own webhooks (contract, Webhooks). Deliveries come and go as JSON text. */
export class DeliveryDesk {
  constructor(private readonly options: DeliveryDeskOptions) {}

  /** One page of the account's deliveries, newest first. A page begins after a delivery of this account. */
  async list({ accountId }: ApiKeyPrincipal, query: ListDeliveries): Promise<Outcome<string>> {
    const { status, limit, startingAfter } = query;
    const after = startingAfter === undefined ? null : await this.row(accountId, startingAfter);
    if (startingAfter !== undefined && after === null) {
      const message = 'startingAfter is not the id of a delivery of this account.';
      return refuse('VALIDATION_ERROR', { message, field: 'startingAfter' });
    }
    const page = { limit: Number(limit), startingAfter: after?.id ?? null, ownerId: accountId };
    const { rows, hasMore } = await DELIVERIES.where({ status }).list(this.options.database, page);
    return succeed(`{"data":[${rows.map((row) => this.render(row)).join(',')}],"hasMore":${hasMore}}`);
  }

  async find({ accountId }: ApiKeyPrincipal, deliveryId: string): Promise<Outcome<string>> {
    return this.shown(await this.row(accountId, deliveryId));
  }

  /** One more attempt of the same event, at once and beside the schedule. */
  async retry({ accountId }: ApiKeyPrincipal, deliveryId: string): Promise<Outcome<string>> {
    const id = parseId('dlv', deliveryId);
    if (id === null) return this.shown(null);
    const { database, store, wakeFor } = this.options;
    const [retried] = await database.query<DeliveryRow>(RETRY_DELIVERY, [id, accountId]);
    if (retried !== undefined) {
      store.lookBack();
      wakeFor(retried.url);
    }
    return this.shown(retried ?? null);
  }

  /** A `webhook.test` to the URL, else to the account's default, on the same way as every other event. */
  async test({ accountId }: ApiKeyPrincipal, url: string | undefined): Promise<Outcome<string>> {
    const target = url ?? (await this.options.accounts.account(accountId))?.defaultWebhookUrl ?? null;
    if (target === null) {
      const message = 'url is required: the account has no default webhook URL.';
      return refuse('VALIDATION_ERROR', { message, field: 'url' });
    }
    const event = this.testEvent(accountId, new URL(target).href);
    await this.options.store.dispatchNew(event);
    const [made] = await this.options.database.query<DeliveryRow>(FIND_DELIVERY, [event.id, accountId]);
    this.options.wakeFor(made?.url ?? target);
    return this.shown(made ?? null);
  }

  /** A new secret, told here alone. The one before it signs beside it for a day. */
  async rotateSecret({ accountId }: ApiKeyPrincipal): Promise<Outcome<RotatedSecretAnswer>> {
    const { database, accountStore } = this.options;
    const { secret, previousUntil } = await database.transaction((tx) =>
      accountStore.rotateWebhookSecret(tx, accountId),
    );
    return succeed({ secret, previousValidUntil: previousUntil.toISOString() });
  }

  private testEvent(accountId: Uuid, url: string): NewEvent {
    const { clock } = this.options;
    return {
      id: clock.newId(),
      type: 'webhook.test',
      accountId,
      sessionId: null,
      occurredAt: new Date(clock.nowMs()),
      data: JSON.stringify({ accountId: renderId('acct', accountId) }),
      sessionWebhookUrl: url,
    };
  }

  private async row(accountId: Uuid, deliveryId: string): Promise<DeliveryRow | null> {
    const id = parseId('dlv', deliveryId);
    if (id === null) return null;
    const [row] = await this.options.database.query<DeliveryRow>(FIND_DELIVERY, [id, accountId]);
    return row ?? null;
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
