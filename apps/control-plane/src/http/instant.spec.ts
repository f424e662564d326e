import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from './instant.js';

describe('an instant', () => {
  it.each([
    ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59.000Z'],
    ['2026-01-31T23:59:59.5Z', '2026-01-31T23:59:59.500Z'],
    ['2026-01-31T23:59:59.123987Z', '2026-01-31T23:59:59.123Z'],
    ['2026-02-01T01:30:00+02:00', '2026-01-31T23:30:00.000Z'],
    ['2026-01-31T18:30:00.001-05:30', '2026-02-01T00:00:00.001Z'],
    ['2024-02-29t00:00:00z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('is parsed from %s', (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  });

  it.each([
    '',
    '2026-01-31',
    '2026-01-31T23:59:59',
    '2026-01-31 23:59:59Z',
    '2026-01-31T23:59Z',
    '2025-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+2:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00Z\n',
    '+12026-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '1767225600000',
    'now',
  ])('is not parsed from %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('survives formatting and parsing', () => {
    const instants = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(instants, (instant) => parseInstant(instant.toISOString())?.getTime() === instant.getTime()));
  });

  it('is never parsed from a text that is no instant', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const instant = parseInstant(text);
        expect(instant === null || !Number.isNaN(instant.getTime())).toBe(true);
      }),
    );
  });
});
