import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { qrSvg } from './qr-svg.js';

const TEXT = 'SMSTO:+14155550199:AUTH-ACME-7Q2M9XK4T1V8C3ZB\nSend this message to sign in to Acme.';

describe('qrSvg', () => {
  it('draws every dark module, four modules from the edge', () => {
    const svg = qrSvg(TEXT);
    const rows = encode(TEXT, { ecc: 'M', border: 0 }).data;
    expect(svg).toContain(`viewBox="0 0 ${rows.length + 8} ${rows.length + 8}"`);
    const drawn = [...svg.matchAll(/M(\d+),(\d+)h1v1h-1z/g)].map(([, x, y]) => `${String(x)},${String(y)}`);
    const dark = rows.flatMap((row, y) => row.flatMap((module, x) => (module ? [`${x + 4},${y + 4}`] : [])));
    expect(drawn).toEqual(dark);
  });

  it('is decorative without a title', () => {
    expect(qrSvg(TEXT)).toContain('aria-hidden="true"');
    expect(qrSvg(TEXT, { title: 'Scan "me" <now> & here' })).toContain(
      'role="img" aria-label="Scan &quot;me&quot; &lt;now> &amp; here"',
    );
  });

  it('never contains the text itself, nor anything that a strict policy forbids', () => {
    const svg = qrSvg('"><script>alert(1)</script>');
    expect(svg).toMatch(/^<svg [^<>]*><path [^<>]*\/><path [^<>]*\/><\/svg>$/);
    expect(svg).not.toMatch(/script|style=|href|on[a-z]+=/);
  });

  it('throws for a text that is too long for a code', () => {
    expect(() => qrSvg('a'.repeat(3_000))).toThrow(RangeError);
  });
});
