import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PREVIOUS_RELEASE } from '../../config/release/previous-release.mjs';
import { buildCommit, hasCommit, removeWorktree } from '../../config/stack/build-commit.mjs';
import { type Faults, tryPromises } from '../campaign/campaign.js';
import { observed } from '../campaign/observed.js';
import { install, type Installation, openFolder, Opened } from '../campaign/system.js';
import { Outcomes } from '../support/outcomes.js';
import { isRedisInstalled, startStores, type StorePart } from '../support/parts.js';
import { Random } from '../support/random.js';
import { until } from '../support/until.js';

const USERS = 12;
/** Calls and MOs that succeed between two steps. */
const STEADY_CALLS = 120;
const STEADY_MESSAGES = 20;
const STEADY_MS = 60_000;
const BUILD_MS = 300_000;
const TEST_MS = 600_000;
const PRESENT = path.resolve('dist');
const UNAVAILABLE = '503';

/** Runs `npm run migrate` of a build. */
function migrate(dist: string, { url, gatewayUrl, ownerUrl }: StorePart): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [path.join(dist, 'apps/control-plane/src/migration/migrate.js')],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        DATABASE_MIGRATION_URL: ownerUrl,
        DATABASE_URL: url,
        DATABASE_GATEWAY_ROLE: new URL(gatewayUrl).username,
      },
    },
  );
  if (status !== 0) throw new Error(stderr);
}

/** Migrates, changes one process after the other to the new release, and changes them back. */
class Upgrade implements Faults {
  readonly struck = new Map<string, number>();
  readonly failures: string[] = [];
  readonly calls = new Outcomes();
  readonly messages = new Outcomes();
  isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly installation: Installation,
    private readonly previous: string,
    private readonly runMigrations: () => void,
  ) {}

  start(): void {
    this.#running = this.#run()
      .catch((error: unknown) => void this.failures.push(String(error)))
      .finally(() => (this.isOver = true));
  }

  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#step('the previous release with its schema', () => Promise.resolve());
    await this.#step('the previous release with the new schema', () => {
      this.runMigrations();
      return Promise.resolve();
    });
    for (const dist of [PRESENT, this.previous]) {
      for (const { name, part } of this.installation.apps) {
        await this.#step(`${name} ${dist === PRESENT ? 'upgraded' : 'rolled back'}`, async () => {
          await part.stop();
          part.dist = dist;
          await part.start();
        });
      }
    }
  }

  async #step(name: string, act: () => Promise<void>): Promise<void> {
    await act();
    this.struck.set(name, (this.struck.get(name) ?? 0) + 1);
    const [calls, messages] = [this.calls.succeeded + STEADY_CALLS, this.messages.succeeded + STEADY_MESSAGES];
    await until(`calls and MOs go on: ${name}`, STEADY_MS, () => {
      return this.calls.succeeded >= calls && this.messages.succeeded >= messages;
    });
  }
}

/** A shallow clone or a source archive lacks the commit of the previous release. */
describe.skipIf(!hasCommit(PREVIOUS_RELEASE))('an upgrade from the previous release, process by process', () => {
  const opened = new Opened();
  let previous: string;

  beforeAll(async () => {
    const folder = opened.add(mkdtempSync(path.join(os.tmpdir(), 'countersign-previous-')), (made) =>
      rmSync(made, { recursive: true, force: true }),
    );
    const worktree = opened.add(path.join(folder, 'worktree'), removeWorktree);
    const log = (line: string): void => void process.stdout.write(`[upgrade] ${line}\n`);
    const { signal } = new AbortController();
    ({ dist: previous } = await buildCommit({ commit: PREVIOUS_RELEASE, folder: worktree, log, signal }));
  }, BUILD_MS);
  afterAll(() => opened.close());

  it(
    'breaks no promise, nor does a roll-back, and no call is answered with an error of ours',
    async () => {
      const dataDir = openFolder(opened);
      const { postgres, redis } = await startStores(dataDir, isRedisInstalled() ? 'redis' : 'postgresql');
      for (const store of redis === null ? [postgres] : [postgres, redis]) opened.add(store, (part) => part.stop());
      migrate(previous, postgres);
      const { url, gatewayUrl, ownerUrl } = postgres;
      const installation = await install(opened, new Random(1), {
        ...{ dataDir, url, ownerUrl, dist: previous },
        variablesOf: (app) => ({
          DATABASE_URL: app === 'gateway' ? gatewayUrl : url,
          ...(redis === null ? {} : { REDIS_URL: redis.url }),
        }),
      });
      const upgrade = new Upgrade(installation, previous, () => migrate(PRESENT, postgres));
      const { violations, failures, counts } = await tryPromises(
        observed(installation, upgrade),
        upgrade,
        new Random(Date.now()),
        {
          ...{ sessions: null, users: USERS, goesOn: () => !upgrade.isOver },
          log: (line) => void process.stdout.write(`[upgrade] ${line}\n`),
        },
      );
      expect(failures).toEqual([]);
      expect(violations).toEqual([]);
      expect([...upgrade.struck.values()].reduce((sum, count) => sum + count)).toBe(2 + 2 * installation.apps.length);
      expect(counts['approved']).toBeGreaterThan(0);
      const answers = Object.keys(upgrade.calls.answers()).filter((answer) => Number(answer) >= 500);
      expect([UNAVAILABLE]).toEqual(expect.arrayContaining(answers));
    },
    TEST_MS,
  );
});
