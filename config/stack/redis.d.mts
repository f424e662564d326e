import type { ChildProcess } from 'node:child_process';

export function findRedis(): string | undefined;
export function whyNoRedis(): string | undefined;
export function startRedis(options: {
  dataDir: string;
  log: (message: string) => void;
  port?: number;
}): Promise<{ url: string; child: ChildProcess; stop: () => Promise<void> }>;
