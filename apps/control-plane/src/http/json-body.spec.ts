import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH, parseJsonObject } from './json-body.js';

const parse = (text: string) => parseJsonObject(Buffer.from(text));

function plain(value: JsonValue): unknown {
  if (value instanceof Map) {
    const target: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [name, member] of value as JsonObject) target[name] = plain(member);
    return target;
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('the JSON of a body', () => {
  it('is parsed with its members in order', () => {
    const body = parse(' {"b" : "x\\u00e9\\n\\/" ,\t"10":1.5e2,"2":-0,"__proto__":[true,false,null,{}], "a":""}\r\n');
    if (!body.ok) throw new Error(body.because);
    expect([...body.value.keys()]).toEqual(['b', '10', '2', '__proto__', 'a']);
    expect(body.value.get('b')).toBe('xé\n/');
    expect(body.value.get('10')).toBe(150);
    expect(body.value.get('__proto__')).toEqual([true, false, null, new Map()]);
    expect(body.value.get('toString')).toBeUndefined();
  });

  it('keeps escaped lone surrogates and zero characters', () => {
    const body = parse('{"a":"\\ud800x\\u0000"}');
    expect(body.ok && body.value.get('a')).toBe('\ud800x\0');
  });

  it.each([
    ['nothing', ''],
    ['white space', '  \n'],
    ['an array', '[]'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['null', 'null'],
    ['two objects', '{}{}'],
    ['an open object', '{"a":1'],
    ['an open string', '{"a":"b}'],
    ['a trailing comma', '{"a":1,}'],
    ['a leading comma', '{,"a":1}'],
    ['a trailing comma in an array', '{"a":[1,]}'],
    ['single quotes', "{'a':1}"],
    ['a bare name', '{a:1}'],
    ['a comment', '{/**/}'],
    ['NaN', '{"a":NaN}'],
    ['Infinity', '{"a":Infinity}'],
    ['a plus sign', '{"a":+1}'],
    ['a leading zero', '{"a":01}'],
    ['a bare fraction', '{"a":.5}'],
    ['an open fraction', '{"a":1.}'],
    ['a hexadecimal number', '{"a":0x10}'],
    ['a half word', '{"a":tru}'],
    ['a long word', '{"a":nulls}'],
    ['a raw newline in a string', '{"a":"b\nc"}'],
    ['a raw zero in a string', '{"a":"\0"}'],
    ['an unknown escape', '{"a":"\\x41"}'],
    ['a short escape', '{"a":"\\u12"}'],
    ['a no-break space', '{\u00a0}'],
    ['a byte order mark', '\ufeff{}'],
    ['the same name twice', '{"a":1,"a":1}'],
    ['the same name twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['the same name twice, further down', '{"m":{"__proto__":"1","__proto__":"2"}}'],
    ['a bottomless array', '{"a":' + '['.repeat(60_000)],
    ['one level too many', nested(MAX_JSON_DEPTH + 1)],
  ])('refuses %s', (_what, text) => {
    expect(parse(text).ok).toBe(false);
  });

  it('accepts the deepest allowed body', () => {
    expect(parse(nested(MAX_JSON_DEPTH)).ok).toBe(true);
  });

  it.each([
    ['a lone continuation octet', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character past the last plane', [0xf4, 0x90, 0x80, 0x80]],
    ['a cut character', [0xe2, 0x82]],
  ])('refuses %s', (_what, octets) => {
    const body = parseJsonObject(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(octets), Buffer.from('"}')]));
    expect(body).toEqual({ ok: false, because: 'The body is not well-formed UTF-8.' });
  });

  it('never quotes the body in its reason', () => {
    const body = parse('{"phone":"+14155552671","phone":"x"}');
    expect(body.ok ? '' : body.because).not.toContain('phone');
  });

  it('parses all output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 })), (value) => {
        const body = parse(JSON.stringify(value));
        expect(body.ok).toBe(true);
        if (body.ok) expect(JSON.stringify(plain(body.value))).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  it('accepts a text of random JSON pieces only when JSON.parse does, and always when nothing is repeated or too deep', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"\\u0061"',
      '1',
      '-0',
      '1e5',
      '01',
      'true',
      'nul',
      ' ',
      '"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `{${pieces.join('')}}`;
        const body = parse(text);
        if (body.ok) expect(JSON.stringify(plain(body.value))).toBe(JSON.stringify(JSON.parse(text)));
        else if (!body.because.includes('twice')) expect(() => JSON.parse(text) as unknown).toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws, whatever the octets', () => {
    fc.assert(fc.property(fc.uint8Array(), (octets) => typeof parseJsonObject(Buffer.from(octets)).ok === 'boolean'));
  });
});
