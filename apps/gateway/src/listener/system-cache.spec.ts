import type { SmppSystem } from '@countersign/carriers/config';
import { createLogger } from '@countersign/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemCache } from './system-cache.js';

const HERE = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';

const system = (systemId: string, allowedCidrs: readonly string[], changes: Partial<SmppSystem> = {}): SmppSystem => ({
  id: `018f0000-0000-7000-8000-0000000000${systemId.length.toString().padStart(2, '0')}`,
  systemId,
  allowedCidrs,
  passwordDigest: Buffer.from(systemId),
  digestVersion: 1,
  carrier: 'north',
  defaultAlphabet: 'gsm',
  retryableMoStatus: 0x14,
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning: null,
  enabled: true,
  bindTypes: ['transceiver'],
  maxConnections: 4,
  submitPerSecond: null,
  tlsRequired: false,
  ...changes,
});

let rows: SmppSystem[];
let isAway: boolean;
let reads: number;
let credentialsHeard: number;
let systemCache: SystemCache;

beforeEach(() => {
  [rows, isAway, reads, credentialsHeard] = [[], false, 0, 0];
  systemCache = new SystemCache({
    carriers: {
      listSystems: () => {
        reads += 1;
        return isAway ? Promise.reject(new Error('away')) : Promise.resolve(rows);
      },
    },
    onCredentials: () => (credentialsHeard += 1),
    logger: createLogger({ app: 'gateway', level: 'silent' }),
  });
});

describe('the roster of systems', () => {
  it('is read again for an address that is in no network, once for all who ask meanwhile', async () => {
    rows = [system('near', ['192.0.2.0/24'])];
    const asked = Array.from({ length: 50 }, () => systemCache.allowsAddress(ELSEWHERE));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([false]));
    expect(reads).toBe(1);
    expect(await systemCache.allowsAddress(HERE)).toBe(true);
    expect(reads).toBe(1);
    rows = [...rows, system('far', ['198.51.100.0/24'])];
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(true);
    expect(reads).toBe(2);
  });

  it('holds as it was read last while the rows cannot be read; before that everyone may come as far as the bind', async () => {
    isAway = true;
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(true);
    isAway = false;
    rows = [system('near', ['192.0.2.0/24'])];
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(false);
    isAway = true;
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(false);
    expect(await systemCache.allowsAddress(HERE)).toBe(true);
  });

  it('lets nobody come for the sake of a system that is disabled', async () => {
    rows = [system('off', [], { enabled: false })];
    expect(await systemCache.allowsAddress(HERE)).toBe(false);
    expect(systemCache.find('off')?.enabled).toBe(false);
  });

  it('tells when a system was made, deleted or given a password, and of nothing else', async () => {
    const heard = async (now: SmppSystem[]): Promise<number> => {
      rows = now;
      await systemCache.allowsAddress(ELSEWHERE);
      return credentialsHeard;
    };
    const near = system('near', [`${HERE}/32`]);
    expect(await heard([near])).toBe(0);
    expect(await heard([{ ...near, maxConnections: 9 }])).toBe(0);
    expect(await heard([{ ...near, passwordDigest: Buffer.from('new') }])).toBe(1);
    expect(await heard([])).toBe(2);
  });
});
