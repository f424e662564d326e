import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** `@countersign/<lib>` and `@countersign/<lib>/<folder>`, as in tsconfig.json. */
const alias = [
  { find: /^@countersign\/([^/]+)$/, replacement: `${root}libs/$1/src/index.ts` },
  { find: /^@countersign\/([^/]+)\/([^/]+)$/, replacement: `${root}libs/$1/src/$2/index.ts` },
];

/**
 * Kinds that share one machine run file after file: each starts real servers of its own. The limits of time below end a
 * test that waits for what never comes; they are long, because a busy machine of two cores must not fail a test by them.
 */
const serial = { pool: 'forks', fileParallelism: false, hookTimeout: 240_000 } as const;
/** Every file opens and closes its own servers in the process of the kind: to load the code for each took a fifth of the time. */
const oneProcess = { ...serial, isolate: false } as const;

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    // The default of one second is short for a slow machine.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'small',
          include: ['{apps,libs,config}/**/*.spec.ts', 'test/{bench,campaign,simulation}/**/*.spec.ts'],
          testTimeout: 20_000,
          // They share no state: a process for each file would take half of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'medium',
          include: ['test/medium/**/*.spec.ts'],
          globalSetup: ['test/support/servers.setup.ts'],
          testTimeout: 90_000,
          ...oneProcess,
        },
      },
      {
        extends: true,
        test: { name: 'contract', include: ['test/contract/**/*.spec.ts'], testTimeout: 90_000, ...oneProcess },
      },
      {
        extends: true,
        test: {
          name: 'attacks',
          include: ['test/attacks/**/*.spec.ts'],
          globalSetup: ['test/support/servers.setup.ts'],
          testTimeout: 120_000,
          ...oneProcess,
        },
      },
      {
        extends: true,
        test: {
          name: 'interop',
          include: ['test/interop/**/*.spec.ts'],
          globalSetup: ['test/support/servers.setup.ts'],
          testTimeout: 120_000,
          ...serial,
        },
      },
      { extends: true, test: { name: 'fuzz', include: ['test/fuzz/**/*.spec.ts'], testTimeout: 600_000, ...serial } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.spec.ts'], testTimeout: 120_000, ...serial } },
      {
        extends: true,
        test: { name: 'faults', include: ['test/faults/**/*.spec.ts'], testTimeout: 300_000, ...serial },
      },
    ],
  },
});
