import { createHash, createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { OtpHarness, errorOf } from '../support/otp-harness.js';
import { ROOT } from '../support/stack.js';
import { until } from '../support/until.js';

const CODES = 1_000_000;
const BRITISH = '+447911123456';

let home: OtpHarness;
let harness: ControlPlaneHarness;
/** A second control plane on the same database. */
let neighbour: { readonly baseUrl: string; readonly stop: () => Promise<void> };

beforeAll(async () => {
  home = await OtpHarness.open();
  harness = home.harness;
  neighbour = await harness.neighbour();
});
afterAll(async () => {
  await neighbour.stop();
  await home.close();
});
beforeEach(() => home.forget());

/** Different codes of six digits, none of which is in the list. */
const guesses = (count: number, codes: readonly string[]): string[] =>
  Array.from({ length: count + codes.length }, (_, at) => String(at).padStart(6, '0'))
    .filter((guess) => !codes.includes(guess))
    .slice(0, count);

describe('A1 guessing the code of a session', () => {
  it('A1 60 guesses at the same time at two control planes: exactly 5 are compared', async () => {
    const { id, code } = await home.withCode();
    const answers = await Promise.all(
      guesses(60, [code]).map((guess, at) => home.check(id, guess, at % 2 === 0 ? {} : { baseUrl: neighbour.baseUrl })),
    );
    const codes = answers.map((answer) => answer.code);
    expect(codes.filter((each) => each === 'INVALID_CODE')).toHaveLength(5);
    expect(codes.filter((each) => each === 'TOO_MANY_ATTEMPTS')).toHaveLength(55);
    const left = answers.flatMap(
      ({ json }) => (json['error'] as { attemptsRemaining?: number }).attemptsRemaining ?? [],
    );
    expect(left.sort()).toEqual([0, 1, 2, 3, 4]);
    // The right code is refused after the last attempt, and a new code brings no new attempts.
    expect((await home.check(id, code)).code).toBe('TOO_MANY_ATTEMPTS');
    await home.letResend(id);
    await home.send(id);
    for (const each of await home.codesOf(id)) expect((await home.check(id, each)).code).toBe('TOO_MANY_ATTEMPTS');
  });

  it('A1 many sessions of one phone at the same time: 5 codes an hour, so 25 guesses', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => home.created()));
    const sent = await Promise.all(ids.map((id) => home.sendWithRetry(id)));
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(sent.filter(({ code }) => code === 'SEND_LIMIT_REACHED')).toHaveLength(7);
    const codes = (await Promise.all(ids.map((id) => home.codesOf(id)))).flat();
    const answers = await Promise.all(ids.flatMap((id) => guesses(8, codes).map((guess) => home.check(id, guess))));
    expect(answers.filter(({ code }) => code === 'INVALID_CODE')).toHaveLength(25);
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
  });
});

/** Every value of the session's row, as octets. */
async function valuesOf(id: string): Promise<Buffer[]> {
  const [row] = await harness.database.query<Record<string, unknown>>('SELECT * FROM sessions WHERE id = $1', [
    parseId('sess', id),
  ]);
  const texts = (value: unknown): Buffer[] => {
    if (Buffer.isBuffer(value)) return [value];
    if (Array.isArray(value)) return value.flatMap(texts);
    return typeof value === 'string' ? [Buffer.from(value)] : [];
  };
  return Object.values(row ?? {}).flatMap(texts);
}

/** The digests of a code that can be computed without a key. */
function digestsOf(code: string, ids: readonly string[]): string[] {
  const plain = ids.flatMap((id) => [code + id, id + code, `${id}:${code}`, `${id}.${code}`]);
  return [code, ...plain].map((text) => createHash('sha256').update(text).digest('hex'));
}

describe('A3 a stolen table of codes', () => {
  it('A3 none of the 1,000,000 codes gives a stored digest without the key, and an ended session has none', async () => {
    const { id, code } = await home.withCode();
    const stored = new Set((await valuesOf(id)).map((value) => value.toString('hex')));
    expect([...stored].filter((hex) => Buffer.from(hex, 'hex').toString('latin1').includes(code))).toEqual([]);
    const uuid = parseId('sess', id) ?? '';
    for (const digest of [...digestsOf(code, [id, uuid]), createHmac('sha256', uuid).update(code).digest('hex')]) {
      expect(stored.has(digest)).toBe(false);
      expect(stored.has(digest.slice(0, 32))).toBe(false);
    }
    for (let at = 0; at < CODES; at += 1) {
      const digest = createHash('sha256').update(String(at).padStart(6, '0')).digest('hex');
      if (stored.has(digest)) throw new Error(`${at} is stored without a key`);
    }
    expect((await home.check(id, code)).status).toBe(200);
    const [row] = await harness.database.query<{ digests: unknown }>(
      'SELECT otp_digests AS digests FROM sessions WHERE id = $1',
      [uuid],
    );
    expect([null, []]).toContainEqual(row?.digests);
  });

  it('A3 a row copied onto another session approves nothing: the digest holds the session', async () => {
    const mine = await home.withCode();
    const theirs = await home.withCode({ phone: BRITISH });
    await harness.database.query(
      `UPDATE sessions SET otp_digests = (SELECT otp_digests FROM sessions WHERE id = $1) WHERE id = $2`,
      [parseId('sess', mine.id), parseId('sess', theirs.id)],
    );
    const answer = await home.check(theirs.id, mine.code);
    expect(mine.code === theirs.code || answer.code === 'INVALID_CODE').toBe(true);
  });
});

/** The product's source files, without specs. */
function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => path.join(folder, file));
}

describe('A4 telling a code by the time or text of the answer', () => {
  it('A4 a guess with 5 right digits is answered as one with none', async () => {
    const { id, code } = await home.withCode();
    const next = (digit: string): string => String((Number(digit) + 1) % 10);
    const other = code.replaceAll(/\d/g, next);
    const near = [0, 2, 4, 5].map((right) => code.slice(0, right) + other.slice(right));
    const answers = [];
    for (const guess of near) answers.push(await home.check(id, guess));
    expect(answers.map(errorOf)).toEqual(near.map(() => [422, 'INVALID_CODE', 'code']));
    const texts = answers.map(({ text }) => text.replaceAll(/\d/g, '#'));
    expect(new Set(texts).size).toBe(1);
  });

  it('A4 digests and secrets are compared by timingSafeEqual alone, in every source of the product', () => {
    const name = '\\w*(?:[dD]igest|[sS]ignature|[sS]ecret|[pP]assword|[hH]mac)\\w*';
    const constant = `\\s*(?:null|undefined|true|false|'|"|\\d)`;
    const compared = new RegExp(
      `${name}\\s*[!=]==(?!${constant})|[!=]== (?:\\w+\\.)*${name}\\b|${name}\\.(?:equals|compare)\\(`,
    );
    const found = [...sources('apps'), ...sources('libs')].flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8')
        .split('\n')
        // Versions and lengths are not secret.
        .filter(
          (line) => compared.test(line.replaceAll(/\w*(?:Version|\.length)\b/g, '')) && !/^\s*(?:\*|\/\/)/.test(line),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
    // Two stored digests, neither sent by a caller: they compare the key or password of a connection with the current
    // one.
    const harmless =
      /^apps\/(?:control-plane\/src\/realtime\/key-revocation\.poller|gateway\/src\/listener\/system-(?:guesses|cache))\.ts: /;
    expect(found.filter((line) => !harmless.test(line))).toEqual([]);
    const uses = [...sources('apps'), ...sources('libs')].filter((file) =>
      readFileSync(path.join(ROOT, file), 'utf8').includes('timingSafeEqual('),
    );
    expect(uses.length).toBeGreaterThan(0);
  });
});

describe('A2 guessing over many phones', () => {
  it('A2 after 200 checks of 50 phones with more than 60 % failures, new sessions take 2 guesses instead of 5', async () => {
    const phones = Array.from({ length: 50 }, (_, at) => `+1415555${String(1_000 + at)}`);
    await Promise.all(
      phones.map(async (phone) => {
        const { id, code } = await home.withCode({ phone });
        const answers = await Promise.all(guesses(4, [code]).map((guess) => home.check(id, guess)));
        expect(answers.map((answer) => answer.code)).toEqual(Array(4).fill('INVALID_CODE'));
      }),
    );
    // The control plane counts the failures in batches.
    await until('the failures are counted', 10_000, async () => {
      const [row] = await harness.database.query<{ failed: number }>(
        'SELECT sum(failed)::int AS failed FROM otp_checks',
      );
      return (row?.failed ?? 0) >= 200;
    });
    await until('new sessions take fewer guesses', 10_000, async () => {
      await harness.database.query(`DELETE FROM otp_counters`);
      const { id, code } = await home.withCode({ phone: BRITISH });
      const answers = await Promise.all(guesses(5, [code]).map((guess) => home.check(id, guess)));
      return answers.filter((answer) => answer.code === 'INVALID_CODE').length === 2;
    });
  });
});
