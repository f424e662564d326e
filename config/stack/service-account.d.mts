export function ensureServiceAccount(options: { dataDir: string; tokenUri: string }): Promise<string>;
