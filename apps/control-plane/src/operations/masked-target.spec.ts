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
    ['/v1/verify?key=csk_live_abcDEF123&x=1', '/v1/verify?key=csk_live_[redacted]&x=1'],
    ['/v1/realtime?ticket=rtk_abc', '/v1/realtime?ticket=rtk_[redacted]'],
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
        expect(Array.from(masked).length).toBeLessThanOrEqual(512);
      }),
    );
  });
});
