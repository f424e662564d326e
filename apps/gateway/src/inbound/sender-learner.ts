import { PubSub, TOPICS } from '@countersign/bus';
import {
  epochOf,
  senderRuleOf,
  SenderFormatStore,
  SENDERS_TO_LEARN,
  type LearnedSenderFormat,
  type ObservedSender,
} from '@countersign/carriers/senders';
import type { SenderEvidence, SenderReading, SenderRule } from '@countersign/phone';
import { renderId, type Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStop } from '../composition/phases.js';
import type { InboundLink } from '../links/inbound-link.js';

/** Interval of retries after a failed write. */
const RETRY_MS = 1_000;
/** Links with evidence in memory at most; the oldest is dropped for a new one. */
const MAX_LINKS = 10_000;

/** Sender evidence that this gateway collected on one link, in one epoch of that evidence. */
interface Seen {
  readonly epoch: number;
  /** Senders written or waiting to be written, by digest under the current master key. */
  readonly senders: Map<string, SenderReading>;
  waiting: ObservedSender[];
  link: InboundLink;
  /** Whether a sender contradicted the learned format. This gateway then treats the link as `mixed` before the row says so. */
  contradicted: boolean;
}

/**
 * Learns how links in `auto` write their senders. New evidence is kept in memory and written in transactions of its own,
 * apart from those of messages, at most 20 times per link. A learned format is used only after it was read back with the
 * row of its link, so only when it is committed; a contradiction takes effect at once.
 */
@Injectable()
export class SenderLearner {
  readonly #seen = new Map<Uuid, Seen>();
  readonly #writing: PollLoop;

  constructor(
    @Inject(SenderFormatStore) private readonly store: Pick<SenderFormatStore, 'digestsOf' | 'addSenders'>,
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    @Inject(PubSub) private readonly bus: Pick<PubSub, 'publish'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.#writing = new PollLoop({
      everyMs: RETRY_MS,
      work: () => this.write(),
      onError: (error) => logger.debug({ err: error }, 'sender evidence could not be written, will retry'),
    });
  }

  /** The rule by which senders of this link are read now. */
  ruleOf(link: InboundLink): SenderRule {
    return senderRuleOf(link.senderFormat, this.learnedOf(link));
  }

  /** Whether another sender can change the learned format of this link. */
  isLearning(link: InboundLink): boolean {
    return link.trustedForMo && link.senderFormat === 'auto' && this.learnedOf(link) !== 'mixed';
  }

  /** Adds the sender of a stored message to the evidence, where it has one reading alone and the link is learning. */
  observe(link: InboundLink, { phone, shows }: SenderEvidence): void {
    if (shows === null || !this.isLearning(link)) return;
    const seen = this.seenOf(link);
    const learned = link.senderLearning?.learned ?? null;
    if (learned !== null) seen.contradicted ||= learned !== shows;
    if (countOf(seen, shows) >= SENDERS_TO_LEARN) return;
    const digests = phone === null ? CONTRADICTION : this.store.digestsOf(link.id, phone);
    if (seen.senders.has(digests[0])) return;
    seen.senders.set(digests[0], shows);
    seen.waiting.push({ digests, shows });
    this.#writing.trigger();
  }

  /** Writes the remaining evidence once, and stops. */
  @OnStop('finish events')
  async stop(): Promise<void> {
    await this.#writing.stop();
    await this.write().catch((error: unknown) =>
      this.logger.debug({ err: error }, 'sender evidence could not be written before shutdown'),
    );
  }

  private learnedOf(link: InboundLink): LearnedSenderFormat | null {
    const learned = link.senderLearning?.learned ?? null;
    if (learned === null || learned === 'mixed') return learned;
    const seen = this.#seen.get(link.id);
    return seen?.epoch === epochOf(link.senderLearning) && seen.contradicted ? 'mixed' : learned;
  }

  private seenOf(link: InboundLink): Seen {
    const known = this.#seen.get(link.id);
    const epoch = epochOf(link.senderLearning);
    if (known?.epoch === epoch) {
      known.link = link;
      return known;
    }
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined && this.#seen.size >= MAX_LINKS) this.#seen.delete(oldest);
    const fresh: Seen = { epoch, senders: new Map(), waiting: [], link, contradicted: false };
    this.#seen.set(link.id, fresh);
    return fresh;
  }

  /** One link after the other. A failure ends the run; its evidence and the rest are written by the next run. */
  private async write(): Promise<boolean> {
    for (const seen of this.#seen.values()) {
      if (seen.waiting.length > 0) await this.writeOne(seen);
    }
    return false;
  }

  private async writeOne(seen: Seen): Promise<void> {
    const senders = seen.waiting;
    // Senders observed during the write wait for the next one.
    seen.waiting = [];
    try {
      const observation = { linkId: seen.link.id, epoch: seen.epoch, senders };
      const written = await this.store.addSenders(this.database, observation);
      if (written?.changed === true) this.report(seen.link, written.learned);
    } catch (error) {
      seen.waiting = [...senders, ...seen.waiting];
      throw error;
    }
  }

  private report(link: InboundLink, learned: LearnedSenderFormat | null): void {
    const about = { link: renderId(link.lease === undefined ? 'sys' : 'bind', link.id), peer: link.peer, learned };
    if (learned === 'mixed') {
      this.logger.warn(about, 'sender format of the link is mixed: set its senderFormat');
    } else {
      this.logger.info(about, 'sender format of the link learned');
    }
    // A learned format is read with the row.
    this.bus.publish(link.lease === undefined ? TOPICS.systems : TOPICS.binds);
  }
}

/** The digest of any sender that contradicted the learned format: which number it was does not matter. */
const CONTRADICTION = [''] as const;

function countOf({ senders }: Seen, reading: SenderReading): number {
  let count = 0;
  for (const shown of senders.values()) if (shown === reading) count += 1;
  return count;
}
