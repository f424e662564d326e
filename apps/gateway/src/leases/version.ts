import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of the product that this process runs, from the nearest package.json above it. */
export const GATEWAY_VERSION = versionAbove(import.meta.dirname);

/** `unknown` when there is no package.json: the gateway runs without it. */
export function versionAbove(folder: string): string {
  const file = path.join(folder, 'package.json');
  if (existsSync(file)) return versionIn(readFileSync(file, 'utf8'));
  const above = path.dirname(folder);
  return above === folder ? 'unknown' : versionAbove(above);
}

function versionIn(text: string): string {
  const read: unknown = JSON.parse(text);
  const hasVersion = typeof read === 'object' && read !== null && 'version' in read;
  return hasVersion && typeof read.version === 'string' ? read.version : 'unknown';
}
