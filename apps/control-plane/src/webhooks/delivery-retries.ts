import { isTestMode, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import type { Refusal } from '../http/errors.js';
import { RETRY_DELIVERY } from './account-deliveries.sql.js';
import { DeliveryStore } from './delivery.store.js';
import type { DeliveryRow } from './delivery.view.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** Recent attempts of one delivery after which no retry can be requested … */
export const MAX_RECENT_ATTEMPTS = 30;
/** … within this time: far more than the schedule makes. */
const RECENT_SECONDS = 3_600;

/** Requests attempts of deliveries beside their schedule. */
@Injectable()
export class DeliveryRetries {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly store: DeliveryStore,
    private readonly dispatcher: WebhookDispatcher,
  ) {}

  /** Makes a delivery of the tenant due. Null without such a delivery, and after too many recent attempts. */
  async request(db: Executor, tenant: Tenant, id: Uuid): Promise<DeliveryRow | null> {
    const values = [id, tenant.accountId, MAX_RECENT_ATTEMPTS, RECENT_SECONDS, isTestMode(tenant)];
    const [retried] = await db.query<DeliveryRow>(RETRY_DELIVERY, values);
    return retried ?? null;
  }

  /** Has the dispatcher send what was requested for this URL, once that is committed. */
  wake(url: string): void {
    this.store.lookBack();
    this.dispatcher.wakeFor(url);
  }

  /** The refusal after too many recent attempts of this delivery. */
  refusalOf({ attempts }: Pick<DeliveryRow, 'attempts'>): Refusal {
    const message = `This delivery was tried ${MAX_RECENT_ATTEMPTS} times within the hour.`;
    const counted = attempts.at(-MAX_RECENT_ATTEMPTS);
    const leftMs = counted === undefined ? 0 : Date.parse(counted.at) + RECENT_SECONDS * 1000 - this.clock.nowMs();
    return { code: 'RATE_LIMITED', message, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) };
  }
}
