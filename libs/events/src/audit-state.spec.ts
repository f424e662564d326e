import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditedJson } from './audit-state.js';

describe('the stored state of an audit entry', () => {
  it('is the state itself', () => {
    const state = { name: 'x'.repeat(2_048), hosts: [{ host: 'a', port: 1 }], cap: null, active: true };
    expect(JSON.parse(auditedJson(state))).toEqual(state);
  });

  it('has the first 2,048 characters of a longer text, at any depth, with its length and digest', () => {
    const text = 'x'.repeat(65_536);
    const digest = createHash('sha256').update(text).digest('hex');
    const stored = `${'x'.repeat(2_048)}… [65536 characters, SHA-256 ${digest}]`;
    expect(
      JSON.parse(auditedJson({ name: 'north', tls: { enabled: true, caCertificate: text }, more: [text] })),
    ).toEqual({
      name: 'north',
      tls: { enabled: true, caCertificate: stored },
      more: [stored],
    });
  });

  it('differs where two texts differ beyond the first 2,048 characters', () => {
    const [one, other] = ['a', 'b'].map((end) => auditedJson({ text: 'x'.repeat(2_000) + end }));
    expect(one).not.toBe(other);
  });

  it('has no half of a surrogate pair', () => {
    const { text } = JSON.parse(auditedJson({ text: `${'x'.repeat(2_047)}${'😀'.repeat(10)}` })) as { text: string };
    expect(text.startsWith(`${'x'.repeat(2_047)}… [2067 characters`)).toBe(true);
  });

  it('has at most 64 KiB, in UTF-8', () => {
    const many = (count: number): object => ({ list: Array.from({ length: count }, () => 'é'.repeat(1_000)) });
    expect(JSON.parse(auditedJson(many(32)))).toEqual(many(32));
    expect(JSON.parse(auditedJson(many(5_000)))).toEqual({ unreadable: 'JSON of 10015010 octets' });
  });
});
