import { dataSm, octetsTlv, type MessagePdu } from '@countersign/smpp/pdu';
import { Metrics } from '@countersign/telemetry';
import { describe, expect, it } from 'vitest';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { InboundMetrics } from './inbound.metrics.js';
import { TextLimits } from './text-limits.js';

const RETRYABLE = 0x14;
const LONGEST = 65_000;
/** Texts of that length within a burst: the last one exceeds it. */
const BURST_OF_LINK = 5;
const BURST_OF_ALL = 17;

function opened(): { texts: TextLimits; metrics: () => Promise<string>; setMs: (ms: number) => void } {
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  let nowMs = 0;
  const texts = new TextLimits(new InboundMetrics(metrics, new LinkMetrics(metrics)), () => nowMs);
  const setMs = (ms: number): void => void (nowMs = ms);
  return { texts, metrics: () => metrics.render().then(({ text }) => text), setMs };
}

const link = (nth: number, trustedForMo = false): InboundLink => ({
  id: `01890000-0000-7000-8000-00000000000${nth}`,
  peer: `system-${nth}`,
  carrier: 'north',
  trustedForMo,
  senderFormat: 'auto',
  senderLearning: null,
  defaultAlphabet: 'gsm',
  retryableMoStatus: RETRYABLE,
});

/** A bind of ours, whose short texts are free. */
const bind = (nth: number): InboundLink => ({
  ...link(nth),
  lease: { bindId: link(nth).id, slot: 0, owner: link(nth).id, epoch: '1' },
});

const text = (octets: number, esmClass = 0): MessagePdu => ({
  ...dataSm({ esmClass }, [octetsTlv('message_payload', Buffer.alloc(octets))]),
  sequence: 1,
});

/** Number of texts within the limit until the first one beyond it. */
function acceptedOf(texts: TextLimits, over: InboundLink, pdu: MessagePdu): number {
  for (let count = 0; count < 1_000; count += 1) if (texts.limitText(pdu, over) !== null) return count;
  return Infinity;
}

describe('long texts', () => {
  it.each([0, 0x04])(
    'are limited to 256 KiB a second of one link, receipts included (esm_class %i)',
    async (esmClass) => {
      const { texts, metrics, setMs } = opened();
      expect(acceptedOf(texts, link(1), text(LONGEST, esmClass))).toBe(BURST_OF_LINK);
      expect(texts.limitText(text(LONGEST, esmClass), link(1))).toEqual({ status: RETRYABLE });
      expect(await metrics()).toContain('{reason="text_rate",app="test"} 2');
      expect(acceptedOf(texts, link(2), text(LONGEST))).toBe(BURST_OF_LINK);
      setMs(60_000);
      expect(acceptedOf(texts, link(1), text(LONGEST))).toBe(BURST_OF_LINK);
    },
  );

  it('are limited to 1 MiB a second of all links together', () => {
    const { texts } = opened();
    const links = Array.from({ length: 6 }, (_, nth) => link(nth));
    const accepted = links.map((each) => acceptedOf(texts, each, text(LONGEST)));
    expect(accepted.reduce((sum, each) => sum + each)).toBe(BURST_OF_ALL);
    expect(accepted.at(-1)).toBe(0);
  });

  it('of links that are not trusted take nothing from trusted ones, nor from short texts over binds', () => {
    const { texts } = opened();
    for (const each of [1, 2, 3, 4, 5]) acceptedOf(texts, link(each), text(LONGEST));
    expect(acceptedOf(texts, link(6, true), text(255))).toBe(Infinity);
    expect(acceptedOf(texts, link(6, true), text(LONGEST))).toBe(BURST_OF_LINK);
    expect(acceptedOf(texts, bind(1), text(255))).toBe(Infinity);
    expect(acceptedOf(texts, bind(1), text(256))).toBe(0);
  });

  it('of trusted links have the same limits, and SMS of a usual length have none', () => {
    const { texts } = opened();
    const links = Array.from({ length: 6 }, (_, nth) => link(nth, true));
    const accepted = links.map((each) => acceptedOf(texts, each, text(LONGEST)));
    expect(accepted[0]).toBe(BURST_OF_LINK);
    expect(accepted.reduce((sum, each) => sum + each)).toBe(BURST_OF_ALL);
    for (const each of links) expect(acceptedOf(texts, each, text(255))).toBe(Infinity);
    expect(texts.pauseMs(link(0, true))).toBeGreaterThan(0);
    expect(texts.pauseMs(link(7, true))).toBe(0);
  });

  it('count a short message of a system as 128 octets: 2,048 a second', () => {
    const { texts, setMs } = opened();
    for (let count = 0; count < 2_048; count += 1) expect(texts.limitText(text(0), link(1))).toBe(null);
    expect(texts.limitText(text(5), link(1))).toEqual({ status: RETRYABLE });
    setMs(1_000);
    expect(acceptedOf(texts, link(1), text(1))).toBe(Infinity);
  });

  it('pause the reading of their link, early enough that what one read brings is within the limit', () => {
    const { texts, setMs } = opened();
    const read = text(65_536);
    let accepted = 0;
    for (let ms = 0; ms < 10_000; ms += 1) {
      setMs(ms);
      if (texts.pauseMs(link(1)) > 0) continue;
      expect(texts.limitText(read, link(1))).toBe(null);
      accepted += 1;
    }
    // 4 of the burst, then 4 each second.
    expect(accepted).toBeGreaterThanOrEqual(42);
    expect(accepted).toBeLessThanOrEqual(44);
    expect(texts.pauseMs(link(1))).toBeGreaterThan(0);
    expect(texts.pauseMs(link(1))).toBeLessThan(1_000);
    expect(texts.pauseMs(link(2))).toBe(0);
    expect(texts.pauseMs(link(3, true))).toBe(0);
  });

  it('of other links pause systems and no bind, which carries the responses to codes', () => {
    const { texts } = opened();
    for (const each of [1, 2, 3, 4, 5]) acceptedOf(texts, link(each), text(LONGEST));
    expect(texts.pauseMs(link(6))).toBeGreaterThan(0);
    expect(texts.pauseMs(bind(6))).toBe(0);
    expect(texts.pauseMs(bind(1))).toBeGreaterThan(0);
  });
});
