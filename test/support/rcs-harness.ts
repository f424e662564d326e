import { JobNotifier, queueConnection, openPubSub, TOPICS, type PubSub } from '@countersign/bus';
import { findCards, type CardRecord } from '@countersign/rcs/offers';
import { CardAnswers, OFFER_LIFE_MS, type CardOutcome } from '@countersign/rcs/rules';
import type { NewCard } from '@countersign/rcs/rules';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import { Queue } from 'bullmq';
import { openCardStores, type CardStores } from './card-stores.js';
import { GatewayHarness } from './gateway-harness.js';
import { RbmHarness } from './rbm-harness.js';
import { SiblingGateway } from './sibling-gateway.js';
import { until } from './until.js';
import { liveTenant } from './tenants.js';

export const AGENT = 'acme_agent';
const WITHIN_MS = 15_000;

/** An offered card and its session. */
export interface OfferedCard {
  readonly id: Uuid;
  readonly phone: string;
  readonly keyVersion: number;
  readonly session: Session;
}

/** Two gateways, the emulated platform, and the control plane's side: offers, queue jobs and card outcomes. */
export class RcsHarness {
  readonly #outcomes: CardOutcome[] = [];
  #phones = 0;

  private constructor(
    readonly gateway: GatewayHarness,
    readonly sibling: SiblingGateway,
    readonly platform: RbmHarness,
    readonly cards: CardStores,
    readonly answers: CardAnswers,
    private readonly originProcess: Uuid,
    private readonly notifier: JobNotifier,
    private readonly bus: PubSub,
    private readonly dispose: () => Promise<void>,
  ) {}

  static async open(redisUrl: string | null): Promise<RcsHarness> {
    const queues: Record<string, string> = redisUrl === null ? {} : { REDIS_URL: redisUrl };
    const platform = await RbmHarness.open();
    const gateway = await GatewayHarness.open({ ...queues, ...(await platform.environment('north')) });
    const sibling = await SiblingGateway.start(gateway, { ...queues, ...(await platform.environment('south')) });
    platform.listensAt('north', gateway.ports.http);
    platform.listensAt('south', sibling.httpPort);
    const { database, clock, keys, url: databaseUrl } = gateway.harness;
    const cards = openCardStores({ database, clock, keys });
    const originProcess = clock.newId();
    const queue = new Queue(QUEUES.cards, {
      connection: queueConnection({ redisUrl, databaseUrl }, 'producer'),
      prefix: QUEUE_PREFIX,
    });
    queue.on('error', () => undefined);
    const notifier = new JobNotifier(queue, () => undefined);
    const bus: PubSub = openPubSub({ redisUrl, databaseUrl }, () => undefined);
    const harness = new RcsHarness(
      gateway,
      sibling,
      platform,
      cards,
      new CardAnswers(keys),
      originProcess,
      notifier,
      bus,
      async () => {
        await notifier.close();
        await queue.close();
        await bus.close();
      },
    );
    await bus.subscribe(TOPICS.cardOutcomes(originProcess), (message) =>
      harness.#outcomes.push(...(message.json() as CardOutcome[])),
    ).ready;
    return harness;
  }

  /** A phone without any messages. */
  freshPhone(): string {
    return `+1415557${String(this.#phones++).padStart(4, '0')}`;
  }

  /**
   * Offers a card of a new session to that phone, and notifies the gateways. On a busy machine the offer may be too old
   * before a gateway claims it: then it is withdrawn, as its create would, and another is offered.
   */
  async offer(
    phone: string,
    changes: Partial<NewCard> = {},
    notify: (id: Uuid) => void = (id) => this.notify([id]),
  ): Promise<OfferedCard> {
    for (;;) {
      const card = await this.offerWithoutNotice(phone, changes);
      notify(card.id);
      const expiresMs = performance.now() + OFFER_LIFE_MS;
      await until('the offer is claimed or too old', WITHIN_MS, async () => {
        return performance.now() > expiresMs || (await this.record(card)).state !== 'offered';
      });
      if ((await this.cards.offers.withdrawUnclaimed(card.id)) !== 'withdrawn') return card;
    }
  }

  /** A card that is claimed and never sent. */
  async offerClaimed(phone: string): Promise<OfferedCard> {
    for (;;) {
      const card = await this.offerWithoutNotice(phone);
      if ((await this.cards.sends.claimOffers([card.id])).length === 1) return card;
      await this.cards.offers.withdrawUnclaimed(card.id);
    }
  }

  private async offerWithoutNotice(phone: string, changes: Partial<NewCard> = {}): Promise<OfferedCard> {
    const { account, brand } = this.gateway.harness;
    const session = await this.gateway.create({ phone });
    const { id, keyVersion, expiresAt } = session;
    const offered = await this.cards.offers.offerCard({
      id,
      accountId: account.id,
      brandId: brand.id,
      originProcess: this.originProcess,
      agentId: AGENT,
      phone,
      brandName: 'Acme',
      logoUrl: null,
      numberMatching: false,
      keyVersion,
      expiresAt,
      ...changes,
    });
    if (offered.kind !== 'offered') throw new Error(`the card was ${JSON.stringify(offered)}`);
    return { id, phone, keyVersion, session };
  }

  notify(ids: readonly Uuid[]): void {
    this.notifier.notify(ids);
  }

  /** Broadcasts offers to both gateways. */
  broadcast(ids: readonly Uuid[]): void {
    this.bus.publish(TOPICS.cardOffers, ids);
  }

  /** The outcomes published for this card, in order. */
  outcomesOf({ id }: OfferedCard): CardOutcome['news'][] {
    return this.#outcomes.filter((outcome) => outcome.id === id).map(({ news }) => news);
  }

  /** Resolves once this outcome of the card is published. */
  async receives(card: OfferedCard, outcome: CardOutcome['news']): Promise<void> {
    await until(`the outcome ${outcome} is published`, WITHIN_MS, () => this.outcomesOf(card).includes(outcome));
  }

  async record({ id }: OfferedCard): Promise<CardRecord> {
    const record = (await findCards(this.gateway.harness.database, [id])).get(id);
    if (record === undefined) throw new Error('there is no such card');
    return record;
  }

  /** The current session. */
  async session({ session: { accountId, id } }: OfferedCard): Promise<Session> {
    const session = await this.gateway.harness.sessions.find(liveTenant(accountId), id);
    if (session === null) throw new Error('there is no such session');
    return session;
  }

  /** The session once it has this status. */
  async reachesStatus(card: OfferedCard, status: Session['status']): Promise<Session> {
    await until(`the session is ${status}`, WITHIN_MS, async () => (await this.session(card)).status === status);
    return this.session(card);
  }

  async sql<Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.gateway.harness.database.query<Row>(statement, values);
  }

  async close(): Promise<void> {
    await this.platform.close();
    await this.cards.drain();
    await this.sibling.close();
    await this.gateway.close();
    await this.dispose();
  }
}
