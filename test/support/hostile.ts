import fc from 'fast-check';

/** Texts that commonly break parsers and storage. */
const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e\u200b',
  'e\u0301🎉日本',
  '٣٤٥',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-1',
  '1e999',
  '0x10',
  "' OR 1=1 --",
  '$1',
  '%00',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '{{baseUrl}}',
  '*',
  'US',
  'us',
  '424242',
  '000000',
  '+14155552671',
  '+15555555555',
  `+${'1'.repeat(40)}`,
  'https://example.com/hook',
  'https://169.254.169.254/',
  'javascript:alert(1)',
  '0000-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-01-01T00:00:00.000+25:00',
  'a'.repeat(600),
  '😀'.repeat(300),
];

const NUMBERS = [0, -0, 1, -1, 0.1, 29, 301, 2 ** 31, 2 ** 53, 2 ** 63, -(2 ** 63), 1e21, 1e308, 5e-324, 1e-7];

const nested = (depth: number): unknown => (depth === 0 ? 'deep' : { a: [nested(depth - 1)] });

/** A text, hostile or random; `more` are values that have a meaning for the service. */
const hostileText = (more: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...TEXTS, ...more), fc.string({ unit: 'binary', maxLength: 40 }));

/** Any JSON value. */
function hostileValue(more: readonly string[]): fc.Arbitrary<unknown> {
  const plain = fc.oneof(hostileText(more), fc.constantFrom(...NUMBERS), fc.constantFrom(null, true, false));
  return fc.oneof(
    { weight: 6, arbitrary: plain },
    { weight: 1, arbitrary: fc.array(plain, { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.dictionary(hostileText([]), plain, { maxKeys: 20 }) },
    { weight: 1, arbitrary: fc.constantFrom(nested(3), nested(40), Array<string>(1_000).fill('US')) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );
}

type Member = readonly [name: string, value: unknown];

/** An object as JSON text, member by member: names may repeat, and `__proto__` is an ordinary name. */
const textOf = (members: readonly Member[]): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

/** A nearly valid body: `base` with some members changed, omitted, added or repeated. */
function nearlyRight(base: readonly Member[], names: readonly string[], more: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('extra', ...names) }, hostileText([]));
  const change = fc.tuple(name, hostileValue(more), fc.constantFrom('set', 'set', 'set', 'drop', 'double'));
  return fc.array(change, { maxLength: 2 }).map((changes) =>
    textOf(
      changes.reduce<readonly Member[]>((members, [changed, value, how]) => {
        const others = how === 'double' ? members : members.filter(([each]) => each !== changed);
        return how === 'drop' ? others : [...others, [changed, value]];
      }, base),
    ),
  );
}

/** An arbitrary body for a call that accepts these members. */
export function hostileBody(
  base: readonly Member[],
  names: readonly string[],
  more: readonly string[],
): fc.Arbitrary<string> {
  const broken = fc.constantFrom('', ' ', '{', '[]', '""', '1', 'null', '{"a":NaN}', '\ufeff{}', '['.repeat(9_000));
  return fc.oneof(
    { weight: 8, arbitrary: nearlyRight(base, names, more) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
}

/** A query string with its question mark, or an empty text. */
export function hostileQuery(names: readonly string[], more: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('extra', 'a[b]', ...names) }, hostileText([]));
  const pairs = fc.array(fc.tuple(name, hostileText([...more, '1', '100', '101', 'day', 'pending'])), { maxLength: 3 });
  const written = pairs.map((all) => all.map(([each, value]) => `${escaped(each)}=${escaped(value)}`).join('&'));
  return fc.oneof(
    { weight: 5, arbitrary: written.map((text) => (text === '' ? '' : `?${text}`)) },
    fc.constantFrom('?', '?&&&==', '?%', '?%zz=%', `?${'a=1&'.repeat(500)}`),
  );
}

/** One segment of a path: an existing id, a plausible one, or something else. */
export const hostileSegment = (ids: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    hostileText(['sess_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'acct_00000000000000000000000000']).map((text) => segment(text)),
    fc.constantFrom('%E0%A4%A', '%2F', '%00', 'x'.repeat(5_000)),
  );

/** URL parsers resolve dots themselves, and an empty segment is none. */
function segment(text: string): string {
  const written = escaped(text);
  return /^(\.|%2e){0,2}$/i.test(written) ? 'x' : written;
}

/** An unpaired surrogate cannot be percent-encoded. */
const escaped = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));

/** Optional headers that a caller may send. */
export const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  fc.record({ 'idempotency-key': fc.string({ unit: fc.constantFrom('a', '"', '\\', ' ', ',', '~'), maxLength: 300 }) }),
  fc.record({
    'content-type': fc.constantFrom(
      'text/plain',
      'application/json; charset=utf-16',
      'application/json;charset="utf-8"',
      'multipart/form-data; boundary=x',
      'application/jsonx',
    ),
  }),
  fc.record({ 'content-encoding': fc.constantFrom('gzip', 'identity', 'x') }),
  fc.record({ accept: fc.constantFrom('text/html', 'x'), 'x-forwarded-proto': fc.constant('http') }),
);
