// Unix sockets of the private servers: unlike a port, no other account can listen on one in a private folder.
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Of `sun_path`, without the final NUL: 103 on macOS, 107 on Linux. */
const LONGEST_SOCKET_PATH = 103;

/** Whether private servers can listen on sockets here. */
export const hasSockets = process.platform !== 'win32';

/**
 * @param {string} folder private to the account of the server
 * @param {string} name of the socket
 * @returns {{ folder: string, isTemporary: boolean }} that folder, or a new private one where the path would be too long
 */
export function socketFolder(folder, name) {
  if (Buffer.byteLength(path.join(folder, name)) <= LONGEST_SOCKET_PATH) return { folder, isTemporary: false };
  return { folder: mkdtempSync(path.join(os.tmpdir(), 'countersign-')), isTemporary: true };
}
