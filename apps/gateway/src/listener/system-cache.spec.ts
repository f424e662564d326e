import type { SmppSystem } from '@countersign/carriers/config';
import { createLogger, Metrics } from '@countersign/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { LinkMetrics } from '../links/link.metrics.js';
import { systemRow } from './smpp-system.fixture.js';
import { SystemCache } from './system-cache.js';

const HERE = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';

const system = (systemId: string, allowedCidrs: readonly string[], changes: Partial<SmppSystem> = {}): SmppSystem =>
  systemRow({
    id: `018f0000-0000-7000-8000-0000000000${systemId.length.toString().padStart(2, '0')}`,
    systemId,
    allowedCidrs,
    passwordDigest: Buffer.from(systemId),
    trustedForMo: true,
    ...changes,
  });

let rows: SmppSystem[];
let isUnreachable: boolean;
let reads: number;
let credentialChanges: number;
let systemCache: SystemCache;

beforeEach(() => {
  [rows, isUnreachable, reads, credentialChanges] = [[], false, 0, 0];
  systemCache = new SystemCache(
    {
      listSystems: () => {
        reads += 1;
        return isUnreachable ? Promise.reject(new Error('unreachable')) : Promise.resolve(rows);
      },
    },
    { clearFailures: () => (credentialChanges += 1) },
    { subscribe: () => ({ ready: Promise.resolve(), close: () => undefined }) },
    new LinkMetrics(new Metrics({ app: 'test', processMetrics: false })),
    createLogger({ app: 'gateway', level: 'silent' }),
  );
});

describe('the system cache', () => {
  it('reads the rows again for an address in no network, once for all concurrent checks', async () => {
    rows = [system('near', ['192.0.2.0/24'])];
    const checks = Array.from({ length: 50 }, () => systemCache.allowsAddress(ELSEWHERE));
    expect(new Set(await Promise.all(checks))).toEqual(new Set([false]));
    expect(reads).toBe(1);
    expect(await systemCache.allowsAddress(HERE)).toBe(true);
    expect(reads).toBe(1);
    rows = [...rows, system('far', ['198.51.100.0/24'])];
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(true);
    expect(reads).toBe(2);
  });

  it('keeps the last rows while the rows cannot be read; before the first read it allows every address', async () => {
    isUnreachable = true;
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(true);
    isUnreachable = false;
    rows = [system('near', ['192.0.2.0/24'])];
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(false);
    isUnreachable = true;
    expect(await systemCache.allowsAddress(ELSEWHERE)).toBe(false);
    expect(await systemCache.allowsAddress(HERE)).toBe(true);
  });

  it('allows no address for a disabled system', async () => {
    rows = [system('off', [], { enabled: false })];
    expect(await systemCache.allowsAddress(HERE)).toBe(false);
    expect(systemCache.find('off')?.enabled).toBe(false);
  });

  it('reports credential changes when a system is created, deleted or gets a password, and no other change', async () => {
    const changesAfter = async (now: SmppSystem[]): Promise<number> => {
      rows = now;
      await systemCache.allowsAddress(ELSEWHERE);
      return credentialChanges;
    };
    const near = system('near', [`${HERE}/32`]);
    expect(await changesAfter([near])).toBe(0);
    expect(await changesAfter([{ ...near, maxConnections: 9 }])).toBe(0);
    expect(await changesAfter([{ ...near, passwordDigest: Buffer.from('new') }])).toBe(1);
    expect(await changesAfter([])).toBe(2);
  });
});
