import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCompletedTokens, findTokens, type FoundToken } from './find-tokens.js';
import { TOKEN_ALPHABET } from './token.js';

const TOKEN = '7K9M2P4R6T8W0Y1A';
const TEXT = `AUTH-ACME-${TOKEN}`;
const FOUND: readonly FoundToken[] = [{ slug: 'ACME', token: TOKEN }];

const tokenArbitrary = fc
  .array(fc.constantFrom(...Array.from(TOKEN_ALPHABET)), { minLength: 16, maxLength: 16 })
  .map((characters) => characters.join(''));
const slugArbitrary = fc
  .array(fc.constantFrom(...Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')), { minLength: 2, maxLength: 12 })
  .map((characters) => characters.join(''));
const foundArbitrary: fc.Arbitrary<FoundToken> = fc.record({ slug: slugArbitrary, token: tokenArbitrary });

/** Changes that phones, keyboards and carriers make to a composed text. */
const TOLERATED: readonly (readonly [what: string, text: string])[] = [
  ['as composed', `${TEXT}\nSend this message to sign in.`],
  ['alone', TEXT],
  ['in lower case', TEXT.toLowerCase()],
  ['in mixed case', `Auth-Acme-${TOKEN.toLowerCase()}`],
  ['with en dashes', TEXT.replaceAll('-', '\u2013')],
  ['with em dashes', TEXT.replaceAll('-', '\u2014')],
  ['with non-breaking hyphens', TEXT.replaceAll('-', '\u2011')],
  ['with hyphens, figure dashes and bars', `AUTH\u2010ACME\u2012${TOKEN}`],
  ['with minus signs', TEXT.replaceAll('-', '\u2212')],
  ['with small and fullwidth hyphens', `AUTH\uFE63ACME\uFF0D${TOKEN}`],
  ['with spaces around dashes', `AUTH - ACME -  ${TOKEN}`],
  ['with non-breaking and ideographic spaces', `AUTH\u00A0-\u3000ACME\u202F\u2014\u2009${TOKEN}`],
  ['with line breaks and tabs around dashes', `AUTH-\r\nACME\t-\n\n${TOKEN}`],
  ['with zero-width characters in it', Array.from(TEXT).join('\u200B')],
  [
    'with joiners, BOM and word joiners in it',
    `AU\u200DTH-\uFEFFACME\u2060-${TOKEN.slice(0, 8)}\u200C${TOKEN.slice(8)}`,
  ],
  ['with soft hyphens in it', `AUTH-AC\u00ADME-${TOKEN.slice(0, 4)}\u00AD${TOKEN.slice(4)}`],
  ['with direction marks around it', `\u202A\u200E${TEXT}\u200F\u202C`],
  ['behind a BOM', `\uFEFF${TEXT}`],
  ['in straight quotes', `"${TEXT}"`],
  ['in curly quotes', `\u201C${TEXT}\u201D`],
  ['in low and angled quotes', `\u201E\u00AB${TEXT}\u00BB\u201C`],
  ['in apostrophes that Unicode files under letters', `\u02BB${TEXT}\u02BC`],
  ['in backticks and brackets', `[\`${TEXT}\`]`],
  ['behind other text', `Hi there, my code is: ${TEXT}`],
  ['behind other text in another script', `Код: ${TEXT} — спасибо`],
  ['before a signature', `${TEXT}\n--\nSent from my phone 2026`],
  ['before punctuation', `${TEXT}.`],
  ['between emoji', `🔐${TEXT}✅`],
  [
    'in fullwidth forms',
    Array.from(TEXT)
      .map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))
      .join(''),
  ],
  ['behind an incomplete one', `AUTH-AUTH-ACME-${TEXT}`],
  ['behind a hyphen', `SMS-${TEXT}-OK`],
  ['with trailing padding', `${TEXT}\u0000\u0000@@@`],
];

const NOT_A_TOKEN: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['white space', ' \r\n\t\u00A0'],
  ['a letter before it', `X${TEXT}`],
  ['a digit before it', `1${TEXT}`],
  ['a letter behind it', `${TEXT}X`],
  ['a digit behind it', `${TEXT}7`],
  ['an accented letter before it', `é${TEXT}`],
  ['a letter of another script behind it', `${TEXT}ж`],
  ['a digit of another script before it', `٣${TEXT}`],
  ['a fullwidth letter behind it', `${TEXT}\uFF21`],
  ['a letter behind it after a zero-width space', `${TEXT}\u200BX`],
  ['a letter beyond the first plane before it', `𝐀${TEXT}`],
  ['15 characters', TEXT.slice(0, -1)],
  ['a space in the token', `AUTH-ACME-${TOKEN.slice(0, 8)} ${TOKEN.slice(8)}`],
  ['a space in place of a dash', `AUTH ACME ${TOKEN}`],
  ['no dash', `AUTHACME${TOKEN}`],
  ['two dashes', `AUTH--ACME-${TOKEN}`],
  ['a slug of one character', `AUTH-A-${TOKEN}`],
  ['a slug of 13 characters', `AUTH-ABCDEFGHIJKLM-${TOKEN}`],
  ['no slug', `AUTH-${TOKEN}`],
  ['a letter U in the token', `AUTH-ACME-U${TOKEN.slice(1)}`],
  ['a letter of another script that looks alike', `АUTH-ACME-${TOKEN}`],
  ['another word', `OAUTH-ACME-${TOKEN}`],
];

describe('findTokens', () => {
  it.each(TOLERATED)('finds the token %s', (_, text) => {
    expect(findTokens(text)).toEqual(FOUND);
  });

  it.each(NOT_A_TOKEN)('finds none in %s', (_, text) => {
    expect(findTokens(text)).toEqual([]);
  });

  it('reads O as 0, and I and L as 1, in the token but not in the slug', () => {
    expect(findTokens('AUTH-OIL-OoIiLl0011ABCDEF')).toEqual([{ slug: 'OIL', token: '0011110011ABCDEF' }]);
  });

  it('tries the first three different tokens; a repeated one counts once', () => {
    const others = ['1', '2', '3', '4'].map((digit) => `AUTH-ACME-${digit.repeat(16)}`);
    const [one = '', two = '', three = '', four = ''] = others;
    const found = findTokens([one, one, one.toLowerCase(), two, three, four].join(' '));
    expect(found.map(({ token }) => token.charAt(0))).toEqual(['1', '2', '3']);
  });

  it('finds every composed text, at any position and in any of the tolerated forms', () => {
    const dash = fc.constantFrom(
      '-',
      '\u2013',
      '\u2014',
      '\u2011',
      ' - ',
      '\u00A0\u2014 ',
      '-\n',
      '\uFF0D',
      '\u200B-\u200B',
    );
    const edge = fc.constantFrom('', ' ', '\n', '"', '\u201C', '\uFEFF', ' hello ', ': ', '…', '🔐', '\u200B');
    const dressing = fc.tuple(edge, dash, dash, edge, fc.boolean());
    fc.assert(
      fc.property(foundArbitrary, dressing, ({ slug, token }, [before, first, second, after, lower]) => {
        const text = `AUTH${first}${slug}${second}${token}`;
        expect(findTokens(before + (lower ? text.toLowerCase() : text) + after)).toEqual([{ slug, token }]);
      }),
    );
  });

  it('never finds a token adjacent to a letter or digit', () => {
    const glue = fc.constantFrom(...Array.from('AZaz09éßжא中あ٣𝐀'));
    fc.assert(
      fc.property(foundArbitrary, glue, fc.boolean(), ({ slug, token }, letter, behind) => {
        const text = `AUTH-${slug}-${token}`;
        expect(findTokens(behind ? text + letter : letter + text)).toEqual([]);
      }),
    );
  });

  it('returns canonical tokens, three at most, for any text, including lone surrogates', () => {
    const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const piece = fc.oneof(anyUnit, fc.constantFrom('AUTH', '-', ' ', 'ACME', TOKEN, '\u2014', '\u200B', '\uFEFF'));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        const found = findTokens(pieces.join(''));
        expect(found.length).toBeLessThanOrEqual(3);
        for (const { slug, token } of found) {
          expect(slug).toMatch(/^[A-Z0-9]{2,12}$/);
          expect(token).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
        }
      }),
    );
  });
});

/** Texts with many beginnings of a token, or with long runs that would make a careless pattern backtrack. */
const HOSTILE: readonly (readonly [what: string, unit: string])[] = [
  ['beginnings', 'AUTH-'],
  ['beginnings with slugs', 'AUTH-ACME-'],
  ['beginnings far apart from their dash', `AUTH${' '.repeat(500)}`],
  ['slugs far apart from their dash', `AUTH-ACME${'\u00A0'.repeat(500)}`],
  ['white space', ' \t\n\u2009'],
  ['dashes', '-\u2013\u2014'],
  ['zero-width characters', '\u200B\uFEFF\u2060'],
  ['letters', 'A'],
  ['tokens one character too long', `AUTH-ACME-${TOKEN}X `],
  ['the same token', `${TEXT} `],
  ['halves of surrogate pairs', '\uD800AUTH-'],
  ['combining marks', 'A\u0301U\u0301T\u0301H\u0301'],
  ['fullwidth beginnings', '\uFF21\uFF35\uFF34\uFF28\uFF0D'],
  ['letters that grow in upper case', 'ßŉﬃAUTH-'],
];

describe('findTokens on hostile text', () => {
  const SIZE = 65_536;
  /** A linear scan takes a few ms; a quadratic pattern takes minutes. */
  const DEADLINE_MS = 500;

  it.each(HOSTILE)('takes linear time on 64 KiB of %s', (_, unit) => {
    const text = unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE);
    const startMs = performance.now();
    expect(findTokens(text).length).toBeLessThanOrEqual(1);
    expect(findCompletedTokens(text + text, text).length).toBeLessThanOrEqual(1);
    expect(performance.now() - startMs).toBeLessThan(DEADLINE_MS);
  });

  it.each(HOSTILE)('still finds a token behind 64 KiB of %s', (_, unit) => {
    const text = `${unit.repeat(Math.ceil(SIZE / unit.length)).slice(0, SIZE)} . AUTH-LAST-${'2'.repeat(16)}`;
    expect(findTokens(text)).toContainEqual({ slug: 'LAST', token: '2'.repeat(16) });
  });
});

describe('findCompletedTokens', () => {
  it('finds the token that spans two parts, whichever arrives last', () => {
    for (let cut = 1; cut < TEXT.length; cut += 1) {
      const [head, tail] = [TEXT.slice(0, cut), TEXT.slice(cut)];
      expect(findCompletedTokens(TEXT, `|${tail}`)).toEqual(FOUND);
      expect(findCompletedTokens(TEXT, head)).toEqual(FOUND);
    }
  });

  it('excludes tokens that are complete without the new part', () => {
    const other = `AUTH-ACME-${'3'.repeat(16)}`;
    expect(findCompletedTokens(`${TEXT} ${other}`, TEXT)).toEqual([{ slug: 'ACME', token: '3'.repeat(16) }]);
    expect(findCompletedTokens(TEXT, TEXT)).toEqual([]);
  });
});
