import { setTimeout as delay } from 'node:timers/promises';
import { PubSub, TOPICS } from '@countersign/bus';
import {
  notSent,
  SENT_WITHIN_SECONDS,
  TestMessageStore,
  UNKNOWN_RESULT,
  type AddedTestMessage,
  type ClaimedTestMessage,
  type TestMessageResult,
} from '@countersign/carriers/test-messages';
import type { Uuid } from '@countersign/ids';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';

const SENT_WITHIN_MS = SENT_WITHIN_SECONDS * 1_000;
/** For the carrier's response; a later one is recorded, but not waited for. */
const ANSWERED_WITHIN_MS = 10_000;
export const WAIT_MS = SENT_WITHIN_MS + ANSWERED_WITHIN_MS;
/** For a notification that is lost. */
const POLL_MS = 1_000;

const NOT_CLAIMED = notSent(
  'no gateway with a connection that can send has taken it; one of an earlier release takes none',
);

type NewTestMessage = Pick<ClaimedTestMessage, 'bindId' | 'phone' | 'source'>;

/** Hands test messages to the gateways, and waits for their results. */
@Injectable()
export class TestMessageQueue {
  constructor(
    private readonly database: Database,
    private readonly store: TestMessageStore,
    private readonly bus: PubSub,
    private readonly clock: DatabaseClock,
  ) {}

  async add(tx: Executor, message: NewTestMessage): Promise<AddedTestMessage & { readonly id: Uuid }> {
    const id = this.clock.newId();
    return { ...(await this.store.add(tx, { id, ...message })), id };
  }

  /** Call after the commit. A message that no gateway has claimed in time is never sent. */
  async waitForResult(id: Uuid): Promise<TestMessageResult> {
    const news = new Notification();
    const subscription = this.bus.subscribe(TOPICS.testMessages, () => news.signal());
    try {
      // A bus that cannot be reached takes no notifications: gateways and this call poll, too.
      await Promise.race([subscription.ready, delay(POLL_MS)]);
      this.bus.publish(TOPICS.testMessages);
      return (await this.findWithin(SENT_WITHIN_MS, id, news)) ?? (await this.giveUpOrWait(id, news));
    } finally {
      subscription.close();
      // Also after a failure of the database: a gateway that has not claimed it sends it no more.
      await this.store.giveUp(this.database, id, NOT_CLAIMED);
      await this.store.erasePhone(this.database, id);
    }
  }

  private async giveUpOrWait(id: Uuid, news: Notification): Promise<TestMessageResult> {
    await this.store.giveUp(this.database, id, NOT_CLAIMED);
    return (await this.findWithin(ANSWERED_WITHIN_MS, id, news)) ?? UNKNOWN_RESULT;
  }

  private async findWithin(withinMs: number, id: Uuid, news: Notification): Promise<TestMessageResult | null> {
    const endsMs = performance.now() + withinMs;
    let result = await this.store.findResult(this.database, id);
    while (result === null && performance.now() < endsMs) {
      await news.wait(POLL_MS);
      result = await this.store.findResult(this.database, id);
    }
    return result;
  }
}

/** A notification, also one that arrives before it is waited for. */
class Notification {
  #hasArrived = false;
  #resolve: (() => void) | undefined;

  signal(): void {
    this.#hasArrived = true;
    this.#resolve?.();
  }

  async wait(atMostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (!this.#hasArrived)
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        timer = setTimeout(resolve, atMostMs);
      });
    clearTimeout(timer);
    this.#hasArrived = false;
  }
}
