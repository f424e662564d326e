import { describe, expect, it } from 'vitest';
import { ThroughputMeter } from './throughput-meter.js';

describe('the throughput meter', () => {
  it('averages over the last ten seconds', () => {
    const rate = new ThroughputMeter(500);
    for (let n = 0; n < 20; n++) rate.count(500);
    expect(rate.perSecond(500)).toBe(2);
    for (let n = 0; n < 30; n++) rate.count(4_200);
    expect(rate.perSecond(9_999)).toBe(5);
    expect(rate.perSecond(10_000)).toBe(3);
    expect(rate.perSecond(14_000)).toBe(0);
  });

  it('is 0 after a long time without events', () => {
    const rate = new ThroughputMeter(0);
    rate.count(0);
    expect(rate.perSecond(3_600_000)).toBe(0);
    rate.count(3_600_000);
    expect(rate.perSecond(3_600_000)).toBe(0.1);
  });
});
