import {
  epochOf,
  senderRuleOf,
  SENDERS_TO_LEARN,
  type LearnedSenderFormat,
  type ObservedSender,
  type SenderFormatStore,
} from '@countersign/carriers';
import type { SenderEvidence, SenderReading, SenderRule } from '@countersign/phone';
import { Periodic, renderId, type Database, type Uuid } from '@countersign/postgres';
import type { Logger } from '@countersign/telemetry';
import type { InboundLink } from './inbound-link.js';

/** How soon senders that could not be written are tried again. */
const RETRY_MS = 1_000;
/** Links with something to remember at most; the one remembered longest is forgotten for a further one. */
const MAX_LINKS = 10_000;

export interface SenderLearnerOptions {
  readonly store: Pick<SenderFormatStore, 'digestsOf' | 'addSenders'>;
  readonly database: Pick<Database, 'transaction'>;
  /** Called after the commit that changed what is known of a link: gateways are to read its row again. Must not throw. */
  readonly onLearned: (link: InboundLink) => void;
  readonly logger: Logger;
}

/** Sender evidence that this gateway collected on one link, in one epoch of that evidence. */
interface Seen {
  readonly epoch: number;
  /** Senders that are written or wait to be, by digest under the current master key. */
  readonly senders: Map<string, SenderReading>;
  waiting: ObservedSender[];
  link: InboundLink;
  /** A sender contradicted what was learned: that is not relied on here from then on, whatever the row still says. */
  contradicted: boolean;
}

/**
 * Learns how links in `auto` write their senders, beside the transactions of messages: what was seen is kept in memory
 * and written when it is new, 20 times a link at most. A learned format is relied on only when it was read back with the
 * row of its link, and so was committed; a contradiction counts at once.
 */
export class SenderLearner {
  readonly #seen = new Map<Uuid, Seen>();
  readonly #writing: Periodic;

  constructor(private readonly o: SenderLearnerOptions) {
    this.#writing = new Periodic({
      everyMs: RETRY_MS,
      work: () => this.write(),
      onError: (error) => o.logger.debug({ err: error }, 'senders of links could not be written yet'),
    });
  }

  /** How the senders of this link are read now. */
  ruleOf(link: InboundLink): SenderRule {
    return senderRuleOf(link.senderFormat, this.learnedOf(link));
  }

  /** Whether a further sender may change what is known of this link. */
  isLearning(link: InboundLink): boolean {
    return link.trustedForMo && link.senderFormat === 'auto' && this.learnedOf(link) !== 'mixed';
  }

  /** Takes a sender of a stored message into account. Ignores what the link is not to learn from. */
  observe(link: InboundLink, { phone, shows }: SenderEvidence): void {
    if (shows === null || !this.isLearning(link)) return;
    const seen = this.seenOf(link);
    const learned = link.senderLearning?.learned ?? null;
    if (learned !== null) seen.contradicted ||= learned !== shows;
    if (countOf(seen, shows) >= SENDERS_TO_LEARN) return;
    const digests = phone === null ? CONTRADICTION : this.o.store.digestsOf(link.id, phone);
    if (seen.senders.has(digests[0])) return;
    seen.senders.set(digests[0], shows);
    seen.waiting.push({ digests, shows });
    this.#writing.nudge();
  }

  /** Writes what is left, and no more after that. */
  async stop(): Promise<void> {
    await this.#writing.stop();
    await this.write().catch((error: unknown) =>
      this.o.logger.debug({ err: error }, 'senders of links were not written'),
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

  /** One link after the other: what failed waits for the next run, and so does the rest. */
  private async write(): Promise<boolean> {
    for (const seen of this.#seen.values()) {
      if (seen.waiting.length > 0) await this.writeOne(seen);
    }
    return false;
  }

  private async writeOne(seen: Seen): Promise<void> {
    const senders = seen.waiting;
    // Others are seen while these are written.
    seen.waiting = [];
    try {
      const observation = { linkId: seen.link.id, epoch: seen.epoch, senders };
      const written = await this.o.store.addSenders(this.o.database, observation);
      if (written?.changed === true) this.report(seen.link, written.learned);
    } catch (error) {
      seen.waiting = [...senders, ...seen.waiting];
      throw error;
    }
  }

  private report(link: InboundLink, learned: LearnedSenderFormat | null): void {
    const about = { link: renderId(link.lease === undefined ? 'sys' : 'bind', link.id), peer: link.peer, learned };
    if (learned === 'mixed') {
      this.o.logger.warn(about, 'senders of this link contradict each other: set its senderFormat');
    } else {
      this.o.logger.info(about, 'the format of senders of this link is learned');
    }
    this.o.onLearned(link);
  }
}

/** Stands for whichever sender contradicted what was learned: its number is of no interest. */
const CONTRADICTION = [''] as const;

function countOf({ senders }: Seen, reading: SenderReading): number {
  let count = 0;
  for (const shown of senders.values()) if (shown === reading) count += 1;
  return count;
}
