import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isMissing } from './foreign-stack.js';
import { findProgram } from './programs.js';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** The programs that Patroni runs; the npm package of PostgreSQL has only the server. */
const SERVER_PROGRAMS = ['initdb', 'postgres', 'pg_ctl', 'pg_basebackup', 'pg_controldata', 'pg_isready', 'pg_rewind'];

export const PROGRAMS = { etcd: findProgram('etcd'), patroni: findProgram('patroni'), haproxy: findProgram('haproxy') };
/** The folder of PostgreSQL's programs, or null. */
export const POSTGRES_BIN = serverFolder();
export const clusterIsMissing = isMissing(
  'a cluster of PostgreSQL under Patroni',
  'patroni etcd-server haproxy postgresql',
  POSTGRES_BIN !== null && Object.values(PROGRAMS).every((program) => program !== null),
);

/** The newest PostgreSQL of Debian with all programs, or null. */
function serverFolder(): string | null {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const folders = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => path.join(DEBIAN_FOLDER, version, 'bin'));
  const isComplete = (folder: string): boolean =>
    SERVER_PROGRAMS.every((program) => existsSync(path.join(folder, program)));
  return folders.find(isComplete) ?? null;
}
