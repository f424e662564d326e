import { describe, expect, it } from 'vitest';
import { checkBrand } from './check-brand.js';

const SEPTETS_BEFORE_INSTRUCTION = 'AUTH-ACME-'.length + 16 + '\n'.length;
const ROOM = 160 - SEPTETS_BEFORE_INSTRUCTION;

const refusedField = (slug: string, instruction: string): string | null => {
  const check = checkBrand({ slug, instruction });
  return check.ok ? null : check.field;
};

describe('checkBrand', () => {
  it('accepts a text that fills one GSM-7 segment to the last septet, and refuses one more', () => {
    expect(checkBrand({ slug: 'ACME', instruction: 'x'.repeat(ROOM) })).toEqual({ ok: true, septets: 160 });
    expect(refusedField('ACME', 'x'.repeat(ROOM + 1))).toBe('instruction');
  });

  it('counts the characters of the extension table twice', () => {
    expect(refusedField('ACME', '€'.repeat(ROOM / 2 - 0.5))).toBeNull();
    expect(refusedField('ACME', '€'.repeat(ROOM / 2 + 0.5))).toBe('instruction');
  });

  it('leaves a longer slug less room', () => {
    expect(refusedField('ACMEACMEACME', 'x'.repeat(ROOM - 8))).toBeNull();
    expect(refusedField('ACMEACMEACME', 'x'.repeat(ROOM - 7))).toBe('instruction');
  });

  it.each(['', 'A', 'ABCDEFGHIJKLM', 'acme', 'AC-ME', 'AC ME', 'ÄCME', 'ACME\n'])('refuses the slug %j', (slug) => {
    expect(refusedField(slug, 'Send this message.')).toBe('slug');
  });

  it.each(['AB', '42', 'ABCDEFGHIJKL', 'A1B2'])('accepts the slug %j', (slug) => {
    expect(refusedField(slug, 'Send this message.')).toBeNull();
  });

  it.each(['', '   ', 'two\nlines', 'a\rreturn', 'a\u001bescape', 'nul\u0000', 'żółć', 'smile 🙂', '“quoted”'])(
    'refuses the instruction %j',
    (instruction) => {
      expect(refusedField('ACME', instruction)).toBe('instruction');
    },
  );

  it.each(['Send this message.', 'Nachricht so absenden: ÄÖÜß', 'Envoyez ce message à €0', "Don't edit (really)!*"])(
    'accepts the instruction %j',
    (instruction) => {
      expect(refusedField('ACME', instruction)).toBeNull();
    },
  );
});
