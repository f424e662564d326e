import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError } from '@countersign/settings';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadServiceAccount, parseServiceAccount } from './service-account.js';

const PEM = { type: 'pkcs8', format: 'pem' } as const;
const pemOf = (bits: number): string =>
  generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export(PEM).toString();
const PRIVATE_KEY = pemOf(2_048);
const KEY_FILE = {
  type: 'service_account',
  project_id: 'acme',
  private_key_id: 'key-1',
  private_key: PRIVATE_KEY,
  client_email: 'cards@acme.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
};

const octets = (changes: object = {}): Buffer => Buffer.from(JSON.stringify({ ...KEY_FILE, ...changes }));
const faultOf = (file: Buffer): string | null => {
  const result = parseServiceAccount(file);
  return 'fault' in result ? result.fault : null;
};

describe('a key file', () => {
  it('is parsed into the account', () => {
    const result = parseServiceAccount(octets());
    expect(result).toMatchObject({
      account: {
        clientEmail: 'cards@acme.iam.gserviceaccount.com',
        privateKeyId: 'key-1',
        tokenUri: 'https://oauth2.googleapis.com/token',
      },
    });
    // The account may be logged with its options.
    expect(JSON.stringify(result)).not.toContain('PRIVATE KEY');
  });

  it('may name a token endpoint on loopback, for development', () => {
    expect(faultOf(octets({ token_uri: 'http://127.0.0.1:8090/token' }))).toBeNull();
  });

  const key = 'has no private_key that is RSA of 2048 bits or more, in PEM';
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(PEM).toString();
  it.each([
    ['', 'is not a JSON object'],
    ['[]', 'is not a JSON object'],
    ['null', 'is not a JSON object'],
    [PRIVATE_KEY, 'is not a JSON object'],
    [`{"private_key":"${PRIVATE_KEY}"`, 'is not a JSON object'],
    [octets({ type: 'authorized_user' }), 'is not of the type service_account'],
    [octets({ client_email: '' }), 'has no client_email'],
    [octets({ client_email: 7 }), 'has no client_email'],
    [octets({ private_key_id: undefined }), 'has no private_key_id'],
    [octets({ token_uri: 'http://oauth2.example.com/token' }), 'has no token_uri that is https, or on loopback'],
    [octets({ token_uri: 'token' }), 'has no token_uri that is https, or on loopback'],
    [octets({ private_key: PRIVATE_KEY.slice(0, 900) }), key],
    [octets({ private_key: 'hunter2' }), key],
    [octets({ private_key: null }), key],
    [octets({ private_key: pemOf(1_024) }), key],
    [octets({ private_key: elliptic }), key],
    [Buffer.alloc(70_000, ' '), 'has more than 65536 bytes'],
  ])('number %# is refused', (file, fault) => {
    expect(faultOf(Buffer.from(file))).toBe(fault);
  });

  it('is refused without showing its content, whatever it contains', () => {
    const damaged = fc.tuple(fc.nat(octets().length - 1), fc.nat(40), fc.uint8Array({ maxLength: 8 }));
    fc.assert(
      fc.property(damaged, ([at, cut, put]) => {
        const file = octets();
        const fault = faultOf(Buffer.concat([file.subarray(0, at), put, file.subarray(at + cut)]));
        expect(fault ?? '').toMatch(/^[a-z0-9_ ,]*$/i);
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (file) => faultOf(Buffer.from(file)) !== null));
  });
});

describe('the start of the gateway', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-key-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key.json');

  it('continues with a usable file', () => {
    writeFileSync(file, octets());
    expect(loadServiceAccount(file).privateKeyId).toBe('key-1');
  });

  it('fails with the variable, the file and its fault, and without the key', () => {
    writeFileSync(file, octets({ type: 'authorized_user' }));
    expect(() => loadServiceAccount(file)).toThrow(SettingsError);
    expect(() => loadServiceAccount(file)).toThrow(
      `RBM_SERVICE_ACCOUNT_FILE is ${JSON.stringify(file)}, which is not of the type service_account. Allowed: the path of`,
    );
    writeFileSync(file, PRIVATE_KEY);
    expect(() => loadServiceAccount(file)).toThrow('which is not a JSON object');
    expect(() => loadServiceAccount(folder)).toThrow('which is not a file that this process can read');
  });
});
