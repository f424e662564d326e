import { KeyedTokenBuckets, TokenBucket } from '@countersign/resilience';
import type { MessageAnswer } from '@countersign/smpp/link';
import { textField } from '@countersign/smpp/messages';
import type { MessagePdu } from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import { InboundMetrics } from './inbound.metrics.js';

const KIB = 1_024;
/** Over binds, and over trusted links, texts up to this many octets are free: every SMS, and receipts. */
const FREE_OCTETS = 255;
/** A message of a system that is not trusted counts at least so much, since reading and storing it costs as much whatever its length. */
const LEAST_OCTETS = 128;
/** Octets per second of one system or bind, with a burst of one second: 2,048 short messages of a system that is not trusted. */
const LINK_OCTETS_PER_SECOND = 256 * KIB;
/** The same of all trusted links together, and of all others, at this gateway. */
const ALL_OCTETS_PER_SECOND = 1_024 * KIB;
/** Systems and binds whose octets are counted at once. */
const MAX_LINKS = 10_000;
/** One read of a socket, in octets: what arrives before a pause begins. */
const READ_OCTETS = 64 * KIB;

/**
 * Limits long texts, and the messages of systems that are not trusted: decoding and searching a text of 64 KiB takes
 * milliseconds, in which the gateway reads no other message, and so do hundreds of short ones; those that wait to be stored are in
 * memory. Beyond the limit the socket is not read, so TCP slows the sender, and messages that were read before get the link's
 * retryable status. The limit is lifted early enough for 64 KiB of texts, or 512 short messages: a system with one connection and
 * no more than that outstanding is slowed and not refused.
 */
export class TextLimits {
  readonly #links = new KeyedTokenBuckets({ perSecond: LINK_OCTETS_PER_SECOND, burstSeconds: 1, maxKeys: MAX_LINKS });
  readonly #ofTrusted: TokenBucket;
  readonly #ofOthers: TokenBucket;

  /** `clockMs`: the monotonic clock. */
  constructor(
    private readonly metrics: InboundMetrics,
    private readonly clockMs: () => number = () => performance.now(),
  ) {
    const all = { perSecond: ALL_OCTETS_PER_SECOND, capacity: ALL_OCTETS_PER_SECOND };
    this.#ofTrusted = new TokenBucket(all, clockMs());
    this.#ofOthers = new TokenBucket(all, clockMs());
  }

  /** Counts the text of a message, before it is decoded. Returns the response to one beyond the limit, else null. */
  limitText(pdu: MessagePdu, link: InboundLink): MessageAnswer | null {
    const octets = countedOctets(textField(pdu).length, link);
    if (octets === 0) return null;
    const nowMs = this.clockMs();
    const all = link.trustedForMo ? this.#ofTrusted : this.#ofOthers;
    if (this.#links.waitMs(link.id, nowMs) === 0 && all.take(nowMs, octets)) {
      this.#links.take(link.id, nowMs, octets);
      return null;
    }
    this.metrics.countRetryableResponse('text_rate');
    return { status: link.retryableMoStatus };
  }

  /** Milliseconds for which the link is not to be read: until the octets of one read are within the limit. */
  pauseMs({ id, trustedForMo, lease }: Pick<InboundLink, 'id' | 'trustedForMo' | 'lease'>): number {
    const nowMs = this.clockMs();
    const ofLinkMs = this.#links.waitMs(id, nowMs, READ_OCTETS);
    // A bind also carries the responses to our codes, and a trusted link MOs that approve: texts of other links do not pause them.
    const isPausedByOthers = lease === undefined && !trustedForMo;
    return isPausedByOthers ? Math.max(ofLinkMs, this.#ofOthers.waitMs(nowMs, READ_OCTETS)) : ofLinkMs;
  }
}

function countedOctets(octets: number, { lease, trustedForMo }: InboundLink): number {
  if (lease === undefined && !trustedForMo) return Math.max(octets, LEAST_OCTETS);
  return octets <= FREE_OCTETS ? 0 : octets;
}
