import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digestsEqual,
  SEAL_OVERHEAD_OCTETS,
  sealedVersion,
  SealError,
  ServerKeys,
  type DigestLabel,
  type SealLabel,
} from './index.js';

const MASTER = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const CONTEXT = 'msg_00000000000000000000000001';
const keys = ServerKeys.fromMaster(MASTER);

/** Made by another implementation (Python's hmac and cryptography) with master 00…1f, of the text "countersign". */
const DIGEST_VECTORS: Readonly<Record<DigestLabel, string>> = {
  'api-key': 'df97b56b1d0162fb4eca7fe451a6347641d18a4b7d265752891d0d004ee6e5f7',
  token: 'ffeb8a91fe4c0bdb8eff851aae81fdb229c937b8244d44ea20a90a856a9214d5',
  'token-digest': 'fa3a92cc6387f6617918720c86eefdeec08ec8b248fa9b386b21b7c0386f168e',
  'smpp-password': '285131a72922466a233662342bbddabbe9bcd5ee936970da562e5625122fa092',
  concatenation: 'fc1a85c8c1f086251f3d0a8bdd74383d080f8f9dd875db94f47121879da02416',
  'otp-code': 'faba02fe4b50dabc903c5acbc08da085c0b2fa463b42476c98db2b3b90838c4c',
  'otp-counter': 'f6d3a9c02b83ac8172ea810c0025ff1d1dd6ae5d34a89dc51740dab77923c680',
  idempotency: 'c47e8701f80e6c126d022eefd88f2c1e9a744563f504084eab25025e3716edb2',
  'card-answer': 'dc954daf63291bdf46f71765c18038f256ba005af300a2c19346f0ce392bbc7c',
  'realtime-ticket': 'fbb559fea92b026b2dfacc176a20e0da66e9cde84f19e632fc5964d6d617e89f',
  'console-session': 'f54cc43b1423ed46f9b531cf9389092516edd5422173dbef3d5a882a6ef1c8e6',
  'console-cookie': 'f1d85ca425f852e1af0e444a8f49fb373eec5bcc054c9b512bc7cf8e01cc31ed',
  'console-csrf': '8416e29e0db41062163b653ead8eb0993b63bd80f50497e7e57688f369c23aa2',
  'console-sign-in': '58be9112afe05a08827d711dc528716d68bf8c2d44f1d10ce8343ae568278a1e',
  'sender-number': '4a3c3b82473f8e18919ffd1203f5747cc99c141911d8f38b9424a501296b9686',
};

/** Likewise, of the text "grüße", nonce 00…0b, the context above. */
const SEAL_VECTORS: Readonly<Record<SealLabel, string>> = {
  'message-text': '01000102030405060708090a0bfba8e8536b3f6db072d1ea0cf64015ce96dd1c8934b0ae',
  'webhook-body': '01000102030405060708090a0b6ba561cef71b9f7324d20c470437c7f18b5802d8fadcc4',
  'webhook-secret': '01000102030405060708090a0b5572d885538a2de8e119b99dedfed82c4eeb8c2f69ec3e',
  'bind-password': '01000102030405060708090a0bf3ad7afe61cfc79fe52001b3bd09b5e317f1d3d0d57c36',
  'bind-client-key': '01000102030405060708090a0b4d391780043e8e8f897e46ebdc8b183cb9f0cd1e409817',
  'outbind-password': '01000102030405060708090a0b626f326e9ce4dbf468ca294df1f2a3d813b58a7e430a6c',
  'idempotent-answer': '01000102030405060708090a0bb6fed31748549652d4abdf0235d8a61c60c12d0076c9ed',
  'console-sign-in': '01000102030405060708090a0b72777ac76deecb560a0563c20f71041de659baa8740dd5',
  trace: '01000102030405060708090a0bfc51c041915ffb274d04747a4d97c89e18a7147ffbaac8',
};

const entries = <Label extends string>(table: Readonly<Record<Label, string>>): [Label, string][] =>
  Object.entries(table) as [Label, string][];

describe('keyed digests', () => {
  it.each(entries(DIGEST_VECTORS))('%s: the published vector', (label, expected) => {
    expect(keys.digest(label, 'countersign').toString('hex')).toBe(expected);
    expect(keys.digest(label, Buffer.from('countersign')).toString('hex')).toBe(expected);
  });

  it('rejects a master key that does not have 32 octets', () => {
    expect(() => ServerKeys.fromMaster(Buffer.alloc(31))).toThrow(RangeError);
    expect(() => ServerKeys.fromMaster(Buffer.alloc(33))).toThrow(RangeError);
  });

  it('are compared without an exception when equal, different, or of different lengths', () => {
    const digest = keys.digest('token', 'a');
    expect(digestsEqual(digest, keys.digest('token', 'a'))).toBe(true);
    expect(digestsEqual(digest, keys.digest('token', 'b'))).toBe(false);
    expect(digestsEqual(digest, digest.subarray(1))).toBe(false);
  });
});

describe('sealed values', () => {
  it.each(entries(SEAL_VECTORS))('%s: the published vector opens', (label, sealed) => {
    expect(keys.open(label, Buffer.from(sealed, 'hex'), CONTEXT).toString('utf8')).toBe('grüße');
  });

  it('are opened to the original, for any octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plaintext, context) => {
        const sealed = keys.seal('webhook-body', plaintext, context);
        expect(sealed.length).toBe(plaintext.length + SEAL_OVERHEAD_OCTETS);
        expect(keys.open('webhook-body', sealed, context)).toEqual(Buffer.from(plaintext));
      }),
    );
  });

  it('are different each time for the same value', () => {
    expect(keys.seal('message-text', 'a', CONTEXT)).not.toEqual(keys.seal('message-text', 'a', CONTEXT));
  });

  it('do not open after a change of any octet, or when truncated', () => {
    const sealed = keys.seal('message-text', 'AUTH', CONTEXT);
    for (let index = 0; index < sealed.length; index += 1) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8((altered.readUInt8(index) + 1) & 0xff, index);
      expect(() => keys.open('message-text', altered, CONTEXT)).toThrow(SealError);
      expect(() => keys.open('message-text', sealed.subarray(0, index), CONTEXT)).toThrow(SealError);
    }
  });

  it('do not open in another row, under another label or with another master key', () => {
    const sealed = keys.seal('message-text', 'AUTH', CONTEXT);
    expect(() => keys.open('message-text', sealed, 'msg_00000000000000000000000002')).toThrow(SealError);
    expect(() => keys.open('webhook-body', sealed, CONTEXT)).toThrow(SealError);
    expect(() => ServerKeys.fromMaster(Buffer.alloc(32)).open('message-text', sealed, CONTEXT)).toThrow(SealError);
  });
});

const VERSION_KEYS = new Map([1, 2, 3, 255].map((version) => [version, Buffer.alloc(32, version)]));
const ringOf = (...versions: readonly number[]): ServerKeys =>
  ServerKeys.fromRing(new Map(versions.map((version) => [version, VERSION_KEYS.get(version) ?? Buffer.alloc(0)])));
const versions = fc.uniqueArray(fc.constantFrom(...VERSION_KEYS.keys()), { minLength: 1 });

describe('a ring of master keys', () => {
  it('rejects an empty ring, a version that is not an octet, and a key of another length', () => {
    expect(() => ServerKeys.fromRing(new Map())).toThrow(RangeError);
    for (const version of [0, -1, 256, 1.5]) {
      expect(() => ServerKeys.fromRing(new Map([[version, MASTER]]))).toThrow(RangeError);
    }
    expect(() => ServerKeys.fromRing(new Map([[2, Buffer.alloc(31)]]))).toThrow(RangeError);
  });

  it('with one key is version 1: values stored before versions existed are opened and found', () => {
    const before = ServerKeys.fromMaster(VERSION_KEYS.get(1) ?? MASTER);
    for (const later of [ringOf(1), ringOf(1, 2), ringOf(2, 1)]) {
      expect(later.open('message-text', before.seal('message-text', 'AUTH', CONTEXT), CONTEXT).toString()).toBe('AUTH');
      expect(later.digests('api-key', 'key')).toContainEqual(before.digest('api-key', 'key'));
    }
    const sealed = ringOf(1, 2).seal('message-text', 'AUTH', CONTEXT);
    expect(sealed[0]).toBe(1);
    expect(before.open('message-text', sealed, CONTEXT).toString()).toBe('AUTH');
  });

  it('seals with its first version; rings with that version open it, others name the missing version', () => {
    fc.assert(
      fc.property(versions, versions, fc.uint8Array({ maxLength: 100 }), (writer, reader, plaintext) => {
        const [current = 0] = writer;
        const sealed = ringOf(...writer).seal('webhook-body', plaintext, CONTEXT);
        expect(sealedVersion(sealed)).toBe(current);
        expect(sealed.length).toBe(plaintext.length + SEAL_OVERHEAD_OCTETS + (current === 1 ? 0 : 1));
        const open = (): Buffer => ringOf(...reader).open('webhook-body', sealed, CONTEXT);
        if (reader.includes(current)) expect(open()).toEqual(Buffer.from(plaintext));
        else expect(open).toThrow(`version ${current} of the master key`);
      }),
    );
  });

  it('digests with its first version; rings with that version find it', () => {
    fc.assert(
      fc.property(versions, versions, fc.string(), (writer, reader, data) => {
        const [current = 0] = writer;
        const stored = ringOf(...writer).digest('token-digest', data);
        const found = ringOf(...reader)
          .digests('token-digest', data)
          .some((digest) => digest.equals(stored));
        expect(found).toBe(reader.includes(current));
      }),
    );
  });

  it('has the same digests in every order, the current one first', () => {
    const hex = (keys: ServerKeys): string[] =>
      keys.digests('idempotency', 'a').map((digest) => digest.toString('hex'));
    expect(hex(ringOf(1, 2)).toReversed()).toEqual(hex(ringOf(2, 1)));
    expect(ringOf(2, 1).digest('idempotency', 'a')).toEqual(ringOf(2, 1).digests('idempotency', 'a')[0]);
    expect(ringOf(2, 1).digest('idempotency', 'a', 1)).toEqual(ringOf(1).digest('idempotency', 'a'));
    expect(() => ringOf(2).digest('idempotency', 'a', 1)).toThrow('version 1 of the master key');
  });

  it('opens no octets that it did not seal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
        expect(() => ringOf(1, 2).open('message-text', octets, CONTEXT)).toThrow(SealError);
      }),
    );
    const sealed = ringOf(2).seal('message-text', 'AUTH', CONTEXT);
    for (let index = 0; index < sealed.length; index += 1) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8((altered.readUInt8(index) + 1) & 0xff, index);
      expect(() => ringOf(1, 2, 3).open('message-text', altered, CONTEXT)).toThrow(SealError);
      expect(() => ringOf(1, 2).open('message-text', sealed.subarray(0, index), CONTEXT)).toThrow(SealError);
    }
  });

  it('has a check value per version that depends on key and version', () => {
    const other = ServerKeys.fromRing(new Map([[1, Buffer.alloc(32, 9)]]));
    expect(ringOf(1, 2).checkValue(1)).toEqual(ringOf(1).checkValue(1));
    expect(ringOf(1, 2).checkValue(1)).not.toEqual(other.checkValue(1));
    const twice = ServerKeys.fromRing(new Map([1, 2].map((version) => [version, MASTER])));
    expect(twice.checkValue(1)).not.toEqual(twice.checkValue(2));
  });
});
