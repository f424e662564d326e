import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskTarget } from './masked-target.js';

describe('the target of a request in a log', () => {
  it.each([
    ['/v1/verify', '/v1/verify'],
    ['/v1/verify/sess_01HF7YAT000000000000000001', '/v1/verify/sess_01HF7YAT000000000000000001'],
    ['/v1/usage?from=2026-01-31&to=2026-02-28', '/v1/usage?from=2026-01-31&to=2026-02-28'],
    ['/v1/verify?phone=%2B14155552671&limit=5', '/v1/verify?phone=+141******71&limit=5'],
    ['/v1/verify?phone=+14155552671', '/v1/verify?phone=+141******71'],
    ['/v1/verify?phone=14155552671', '/v1/verify?phone=141******71'],
    ['/v1/verify/x14155552671', '/v1/verify/x141******71'],
    ['/v1/verify?phone=%31%34%31%35%35%35%35%32%36%37%31', '/v1/verify?phone=141******71'],
    ['/v1/verify?phone=%252B1415555%2532671', '/v1/verify?phone=+141******71'],
    [
      `/v1/verify?phone=${encodeURIComponent('+1\u00a0415\u2013555:26\u201171')}`,
      '/v1/verify?phone=+1\u00a04**********71',
    ],
    ['/v1/verify?key=csk_live_abcDEF123&x=1', '/v1/verify?key=csk_live_[redacted]&x=1'],
    ['/v1/realtime?ticket=rtk_abc', '/v1/realtime?ticket=rtk_[redacted]'],
    ['/v1/14155552671', '/v1/141******71'],
    ['/console/api/v1/14155552671', '/console/api/v1/141******71'],
    ['/v1/verify/141/555/5267', '/v1/verify/141*******67'],
    ['/v1/verify/141_555_526_71', '/v1/verify/141*********71'],
    ['/v1/verify?phone=1%2F415%5F555%2C2671', '/v1/verify?phone=1/4*********71'],
    ['/v1/verify/sess_01HF7YAT000000000000000001/send-sms', '/v1/verify/sess_01HF7YAT000000000000000001/send-sms'],
    ['/v1/verify/ann.lee+x%40example.com/code', '/v1/verify/[email]/code'],
    ['/v1/verify?a=1&email=ann.lee@mail.example.com&b=2', '/v1/verify?a=1&email=[email]&b=2'],
    ['/v1/a%0Ab', '/v1/a\ufffdb'],
  ])('%s reads %s', (target, masked) => {
    expect(maskTarget(target)).toBe(masked);
  });

  it('never contains a phone, however it is escaped, and is bounded', () => {
    const phone = fc.integer({ min: 1_000_000, max: 9_999_999 }).map((tail) => `1415${tail}`);
    const escaped = fc.func(fc.boolean()).map(
      (isEscaped) =>
        (text: string): string =>
          Array.from(text)
            .map((digit, at) => (isEscaped(at) ? `%3${digit}` : digit))
            .join(''),
    );
    fc.assert(
      fc.property(phone, escaped, fc.webQueryParameters(), (digits, escape, rest) => {
        const masked = maskTarget(`/v1/verify?phone=${escape(digits)}&${rest}`);
        expect(masked).not.toContain(digits);
        expect(Buffer.byteLength(masked)).toBeLessThanOrEqual(512);
      }),
    );
  });

  it('never contains a phone, whatever separates its digits', () => {
    const separator = fc.stringMatching(/^[ ().+\-/_,;*~|]{0,3}$/);
    const separators = fc.array(separator, { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(fc.integer({ min: 1_000_000, max: 9_999_999 }), separators, (tail, between) => {
        const digits = Array.from(`1415${tail}`);
        const written = digits.map((digit, at) => digit + (between[at] ?? '')).join('');
        const [masked] = /[^/]*$/.exec(maskTarget(`/v1/verify?phone=${encodeURIComponent(written)}`)) ?? [''];
        expect(masked.replace(/\P{Nd}/gu, '').length).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('is cut at 512 octets between characters', () => {
    expect(maskTarget(`/v1/${'é'.repeat(300)}`)).toBe(`/v1/${'é'.repeat(254)}`);
    expect(maskTarget(`/v1/x${'é'.repeat(300)}`)).toBe(`/v1/x${'é'.repeat(253)}`);
  });

  it('of which the end is not read shows nothing of a phone that was cut', () => {
    for (let padding = 980; padding < 1_024; padding += 1) {
      const masked = maskTarget(
        `/v1/${'a/'.repeat(2)}${'%41'.repeat(300)}/${'b'.repeat(padding - 910)}1415555267114155552671&x`,
      );
      expect(masked).not.toMatch(/\d{4}/);
    }
  });
});
