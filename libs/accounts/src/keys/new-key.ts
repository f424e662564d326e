import { createApiKey, parseApiKey, type ServerKeys } from '@countersign/keys';

/** The text of a new key, its prefix that is stored in clear, and the keyed digest by which it is found. */
export interface NewKey {
  readonly key: string;
  readonly prefix: string;
  readonly digest: Buffer;
  /** The version of the master key of the digest. */
  readonly digestVersion: number;
}

export function newKey(keys: ServerKeys, kind: Parameters<typeof createApiKey>[0]): NewKey {
  const key = createApiKey(kind);
  const prefix = parseApiKey(key)?.prefix ?? '';
  return { key, prefix, digest: keys.digest('api-key', key), digestVersion: keys.currentVersion };
}
