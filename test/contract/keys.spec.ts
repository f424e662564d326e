import { KeyCheckError } from '@countersign/key-ring';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, ENTROPY_KEY, MASTER_KEY } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

const encoded = (key: Buffer): string => key.toString('base64');
const OTHER_KEY = Buffer.alloc(32, 77);

const entropyOf = async (changes: Readonly<Record<string, string>>): Promise<unknown> => {
  await harness.stop();
  await harness.start({ ...harness.environment, ...changes });
  const { json } = await harness.create();
  await harness.approve(String(json['id']), { notify: false });
  return (await harness.call(`/v1/verify/${String(json['id'])}`)).json['authEntropy'];
};

describe('a control plane', () => {
  it.each([
    ['COUNTERSIGN_ENTROPY_KEYS', `1:${encoded(OTHER_KEY)}`, 'version 1 of COUNTERSIGN_ENTROPY_KEYS is not the key'],
    ['COUNTERSIGN_ENTROPY_KEYS', `2:${encoded(OTHER_KEY)}`, 'COUNTERSIGN_ENTROPY_KEYS does not list version 1'],
    ['COUNTERSIGN_MASTER_KEY', encoded(OTHER_KEY), 'version 1 of COUNTERSIGN_MASTER_KEY is not the key'],
    ['COUNTERSIGN_MASTER_KEY', `2:${encoded(OTHER_KEY)}`, 'COUNTERSIGN_MASTER_KEY does not list version 1'],
  ])('does not start with another %s, and serves nothing', async (variable, value, words) => {
    await harness.stop();
    const started = harness.start({ ...harness.environment, [variable]: value });
    await expect(started).rejects.toThrow(KeyCheckError);
    await expect(started).rejects.toThrow(words);
    await expect(fetch(`${harness.opsUrl}/readyz`)).rejects.toThrow();
  });

  it('gives the same authEntropy with more versions of either key, in any order of the master key', async () => {
    const before = await entropyOf({});
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    for (const changes of [
      { COUNTERSIGN_MASTER_KEY: `1:${encoded(MASTER_KEY)},2:${encoded(OTHER_KEY)}` },
      { COUNTERSIGN_ENTROPY_KEYS: `1:${encoded(ENTROPY_KEY)},2:${encoded(OTHER_KEY)}` },
    ]) {
      expect(await entropyOf(changes)).toBe(before);
    }
  });

  it('logs each new version once, with a fingerprint and without the key', () => {
    const lines = harness.log.filter((line) => line.includes('fingerprint'));
    expect(lines).toHaveLength(4);
    for (const key of [MASTER_KEY, ENTROPY_KEY, OTHER_KEY]) expect(harness.log.join()).not.toContain(encoded(key));
  });
});
