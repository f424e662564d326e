import { describe, expect, it } from 'vitest';
import { checkBrand, type BrandText } from './check-brand.js';

const SEPTETS_BEFORE_INSTRUCTION = 'AUTH-ACME-'.length + 16 + '\n'.length;
const ROOM = 160 - SEPTETS_BEFORE_INSTRUCTION;
const NAME_ROOM = 160 - '000000 is your  code. Do not share it.'.length;

const BRAND: BrandText = { name: 'Acme', slug: 'ACME', instruction: 'Send this message.', domain: null };

const check = (changes: Partial<BrandText>) => checkBrand({ ...BRAND, ...changes });
const refusedField = (changes: Partial<BrandText>): string | null => {
  const checked = check(changes);
  return checked.ok ? null : checked.field;
};

describe('checkBrand', () => {
  it('accepts a text that fills one GSM-7 segment exactly, and rejects one septet more', () => {
    expect(check({ instruction: 'x'.repeat(ROOM) })).toEqual({ ok: true, septets: 160 });
    expect(refusedField({ instruction: 'x'.repeat(ROOM + 1) })).toBe('instruction');
  });

  it('counts the characters of the extension table twice', () => {
    expect(refusedField({ instruction: '€'.repeat(ROOM / 2 - 0.5) })).toBeNull();
    expect(refusedField({ instruction: '€'.repeat(ROOM / 2 + 0.5) })).toBe('instruction');
  });

  it('a longer slug leaves less space', () => {
    expect(refusedField({ slug: 'ACMEACMEACME', instruction: 'x'.repeat(ROOM - 8) })).toBeNull();
    expect(refusedField({ slug: 'ACMEACMEACME', instruction: 'x'.repeat(ROOM - 7) })).toBe('instruction');
  });

  it.each(['', 'A', 'ABCDEFGHIJKLM', 'acme', 'AC-ME', 'AC ME', 'ÄCME', 'ACME\n'])('rejects the slug %j', (slug) => {
    expect(refusedField({ slug })).toBe('slug');
  });

  it.each(['AB', '42', 'ABCDEFGHIJKL', 'A1B2'])('accepts the slug %j', (slug) => {
    expect(refusedField({ slug })).toBeNull();
  });

  it.each(['', '   ', 'two\nlines', 'a\rreturn', 'a\u001bescape', 'nul\u0000', 'żółć', 'smile 🙂', '“quoted”'])(
    'rejects %j as instruction and as name',
    (text) => {
      expect(refusedField({ instruction: text })).toBe('instruction');
      expect(refusedField({ name: text })).toBe('name');
    },
  );

  it.each(['Send this message.', 'Nachricht so absenden: ÄÖÜß', 'Envoyez ce message à €0', "Don't edit (really)!*"])(
    'accepts the instruction %j',
    (instruction) => {
      expect(refusedField({ instruction })).toBeNull();
    },
  );

  it('limits the name to the space in the SMS with the code', () => {
    expect(refusedField({ name: 'x'.repeat(NAME_ROOM) })).toBeNull();
    expect(refusedField({ name: 'x'.repeat(NAME_ROOM + 1) })).toBe('name');
  });

  it('reports the domain when name and code without it would fit', () => {
    const beside = '\n@'.length + ' #000000'.length;
    const fitting = NAME_ROOM - 'Acme'.length - beside;
    expect(refusedField({ domain: 'x'.repeat(fitting) })).toBeNull();
    expect(refusedField({ domain: 'x'.repeat(fitting + 1) })).toBe('domain');
    expect(check({ domain: 'x'.repeat(fitting + 5) })).toMatchObject({
      message: 'makes the SMS with the code 5 characters longer than one SMS',
    });
  });
});
