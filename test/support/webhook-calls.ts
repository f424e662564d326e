import { Webhook } from 'standardwebhooks';
import type { Answer, ControlPlaneHarness } from './control-plane-harness.js';
import type { Received } from './receiver.js';
import { until } from './until.js';

export const DELIVERIES = '/v1/webhooks/deliveries';

/** A delivery as its account sees it (contract, Webhooks). */
export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly sessionId: string | null;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly { at: string; status: number | null; latencyMs: number; error?: string }[];
  readonly nextAttemptAt: string | null;
  readonly body: { data: Record<string, unknown> } | null;
}

export const deliveryOf = ({ text }: Answer): Delivery => JSON.parse(text) as Delivery;
export const deliveriesOf = ({ text }: Answer): Delivery[] => (JSON.parse(text) as { data: Delivery[] }).data;
export const hasEnded = ({ status }: Delivery): boolean => status !== 'pending';

/** The webhook requests of an account, and waits for their results. */
export class WebhookCalls {
  constructor(private readonly harness: ControlPlaneHarness) {}

  async find(id: string): Promise<Delivery> {
    return deliveryOf(await this.harness.call(`${DELIVERIES}/${id}`));
  }

  async list(query = ''): Promise<Delivery[]> {
    return deliveriesOf(await this.harness.call(`${DELIVERIES}${query}`));
  }

  retry(id: string): Promise<Answer> {
    return this.harness.call(`${DELIVERIES}/${id}/retry`, { method: 'POST' });
  }

  test(body?: unknown): Promise<Answer> {
    return this.harness.call('/v1/webhooks/test', { method: 'POST', ...(body === undefined ? {} : { body }) });
  }

  rotate(): Promise<Answer> {
    return this.harness.call('/v1/webhooks/secret/rotate', { method: 'POST' });
  }

  /** Waits until the condition holds for the delivery, by default until it has ended. */
  async waitForDelivery(id: string, holds = hasEnded): Promise<Delivery> {
    let found = await this.find(id);
    await until(`delivery ${id} is as expected`, 20_000, async () => {
      found = await this.find(id);
      return holds(found);
    });
    return found;
  }

  /** Creates and approves a session; resolves with its delivery after the first attempt. */
  async attemptedDelivery(changes: Readonly<Record<string, unknown>>): Promise<Delivery & { sessionId: string }> {
    const sessionId = String((await this.harness.create(changes)).json['id']);
    await this.harness.approve(sessionId);
    let found: Delivery | undefined;
    await until('the first attempt was made', 10_000, async () => {
      found = (await this.list()).find((each) => each.sessionId === sessionId && each.attempts.length > 0);
      return found !== undefined;
    });
    if (found === undefined) throw new Error('unreachable');
    return { ...found, sessionId };
  }
}

/** Whether the webhook has a signature of this secret, verified by the Standard Webhooks library. */
export function signedBy(secret: string, { headers, body }: Received): boolean {
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
    return true;
  } catch {
    return false;
  }
}
