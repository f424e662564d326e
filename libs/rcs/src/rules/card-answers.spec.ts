import { ServerKeys } from '@countersign/keys';
import { newId, renderId, type Uuid } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CardAnswers, decodeChoice, encodeChoice } from './card-answers.js';

const answers = new CardAnswers(ServerKeys.fromMaster(Buffer.alloc(32, 7)));
const others = new CardAnswers(ServerKeys.fromMaster(Buffer.alloc(32, 8)));
const ID: Uuid = '019ab000-0000-0123-4567-89abcdef0123';

const ids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((octets): Uuid => {
  const hex = Buffer.from(octets).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
});

describe('the buttons of a card', () => {
  it('are Approve and Deny', () => {
    const card = { id: ID, numberMatching: false, keyVersion: 1 };
    expect(answers.suggestionsOf(card).map(({ text }) => text)).toEqual(['Approve', 'Deny']);
  });

  it('with number matching are three different numbers of two digits, the right one among them, and Deny', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const texts = answers.suggestionsOf({ id, numberMatching: true, keyVersion: 1 }).map(({ text }) => text);
        expect(texts).toHaveLength(4);
        expect(texts[3]).toBe('Deny');
        const numbers = texts.slice(0, 3);
        expect(new Set(numbers).size).toBe(3);
        for (const number of numbers) expect(number).toMatch(/^[1-9][0-9]$/);
        expect(numbers).toContain(answers.matchCodeOf({ id, keyVersion: 1 }));
      }),
    );
  });

  it('have the right number at every position about equally often, and use every number', () => {
    const positions = [0, 0, 0];
    const numbers = new Set<string>();
    for (let made = 0; made < 3_000; made += 1) {
      const id = newId(1_763_700_000_000 + made);
      const texts = answers.suggestionsOf({ id, numberMatching: true, keyVersion: 1 }).map(({ text }) => text);
      const position = texts.indexOf(answers.matchCodeOf({ id, keyVersion: 1 }));
      positions[position] = (positions[position] ?? 0) + 1;
      for (const text of texts.slice(0, 3)) numbers.add(text);
    }
    for (const count of positions) expect(Math.abs(count - 1_000)).toBeLessThan(200);
    expect(numbers.size).toBe(90);
  });

  it('contain no phone, fit the platform, and are deterministic', () => {
    for (const numberMatching of [false, true]) {
      const suggestions = answers.suggestionsOf({ id: ID, numberMatching, keyVersion: 1 });
      expect(answers.suggestionsOf({ id: ID, numberMatching, keyVersion: 1 })).toEqual(suggestions);
      for (const { text, postback } of suggestions) {
        expect(text.length).toBeLessThanOrEqual(25);
        expect(postback).toMatch(/^v1\.(a|d|n\d\d)\.sess_[0-9A-Z]{26}\.[0-9a-f]{32}$/);
      }
    }
  });
});

describe('a postback', () => {
  it('of any button is parsed as its choice, and its verdict matches the label', () => {
    fc.assert(
      fc.property(ids, fc.boolean(), (id, numberMatching) => {
        // The text of an id keeps all its bits, so any 16 octets are a valid id.
        for (const { text, postback } of answers.suggestionsOf({ id, numberMatching, keyVersion: 1 })) {
          const read = answers.parsePostback(postback);
          expect(read?.cardId).toBe(id);
          const verdict = read === null ? null : answers.verdictOf({ id, numberMatching, keyVersion: 1 }, read.choice);
          const approves = text === 'Approve' || text === answers.matchCodeOf({ id, keyVersion: 1 });
          expect(verdict).toBe(approves ? 'approve' : 'deny');
        }
      }),
    );
  });

  it('with one character changed is invalid', () => {
    const [approve] = answers.suggestionsOf({ id: ID, numberMatching: false, keyVersion: 1 });
    const postback = approve?.postback ?? '';
    fc.assert(
      fc.property(fc.nat(postback.length - 1), fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }), (at, put) => {
        fc.pre(put !== postback[at]);
        expect(answers.parsePostback(postback.slice(0, at) + put + postback.slice(at + 1))).toBeNull();
      }),
    );
  });

  it('is no proof for another button, another session or another server', () => {
    const [approve, deny] = answers
      .suggestionsOf({ id: ID, numberMatching: false, keyVersion: 1 })
      .map(({ postback }) => postback);
    const proof = deny?.split('.').at(-1) ?? '';
    expect(answers.parsePostback(`v1.a.${renderId('sess', ID)}.${proof}`)).toBeNull();
    const other = renderId('sess', ID.replace('0123', '0124'));
    expect(answers.parsePostback((approve ?? '').replace(renderId('sess', ID), other))).toBeNull();
    expect(others.parsePostback(approve ?? '')).toBeNull();
    expect(answers.parsePostback(approve ?? '')).not.toBeNull();
  });

  it.each([
    ['', 'nothing'],
    ['v1.a', 'a part of it'],
    [`v1.a.${renderId('sess', ID)}.`, 'no proof'],
    [`v1.a.${renderId('sess', ID)}.${'0'.repeat(32)}`, 'a guess'],
    [`v1.n07.${renderId('sess', ID)}.${'0'.repeat(32)}`, 'an invalid number'],
    [`v2.a.${renderId('sess', ID)}.${'0'.repeat(32)}`, 'another version'],
    [`v1.a.${renderId('sess', ID).toLowerCase()}.${'0'.repeat(32)}`, 'an id in lower case'],
    [`v1.a.sess_${'Z'.repeat(26)}.${'0'.repeat(32)}`, 'an id of no time'],
  ])('%j is invalid: %s', (text) => {
    expect(answers.parsePostback(text)).toBeNull();
  });

  it('with additional characters is invalid', () => {
    const [approve] = answers.suggestionsOf({ id: ID, numberMatching: false, keyVersion: 1 });
    const postback = approve?.postback ?? '';
    for (const text of [` ${postback}`, `${postback} `, `${postback}\n`, `${postback}\0`, postback.toUpperCase()]) {
      expect(answers.parsePostback(text)).toBeNull();
    }
  });

  it('of arbitrary text is invalid, and parsing does not throw', () => {
    const nearly = fc
      .tuple(fc.constantFrom('v1', 'v2'), fc.string(), fc.string(), fc.stringMatching(/^[0-9a-f]{30,34}$/))
      .map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearly), (text) => {
        expect(answers.parsePostback(text)).toBeNull();
      }),
    );
  });
});

describe('a choice', () => {
  it.each([
    [{ kind: 'approve' }, 'a'],
    [{ kind: 'deny' }, 'd'],
    [{ kind: 'number', number: '42' }, 'n42'],
  ] as const)('%j is stored as %s', (choice, text) => {
    expect(encodeChoice(choice)).toBe(text);
    expect(decodeChoice(text)).toEqual(choice);
  });

  it.each(['', 'x', 'n', 'n4', 'n04', 'n421', 'approve', ' a', 'n42 '])('%j is invalid', (text) => {
    expect(decodeChoice(text)).toBeNull();
  });

  it('that the card did not offer has no verdict', () => {
    const plain = { id: ID, numberMatching: false, keyVersion: 1 };
    const matching = { id: ID, numberMatching: true, keyVersion: 1 };
    expect(answers.verdictOf(matching, { kind: 'approve' })).toBeNull();
    expect(
      answers.verdictOf(plain, { kind: 'number', number: answers.matchCodeOf({ id: ID, keyVersion: 1 }) }),
    ).toBeNull();
    const offered = new Set(answers.suggestionsOf(matching).map(({ text }) => text));
    for (let number = 10; number < 100; number += 1) {
      const verdict = answers.verdictOf(matching, { kind: 'number', number: String(number) });
      expect(verdict !== null).toBe(offered.has(String(number)));
    }
    expect(answers.verdictOf(plain, { kind: 'deny' })).toBe('deny');
    expect(answers.verdictOf(matching, { kind: 'deny' })).toBe('deny');
  });
});
