import { expect, it } from 'vitest';
import { runCampaign } from '../campaign/campaign.js';
import { INVARIANTS } from '../campaign/checker.js';
import { isRedisInstalled } from '../support/parts.js';

/** Set by `npm run faults`; without them a short run with a new seed. */
const {
  CAMPAIGN_SEED: givenSeed,
  CAMPAIGN_MINUTES: givenMinutes,
  CAMPAIGN_SESSIONS: givenSessions,
  CAMPAIGN_USERS: givenUsers,
  CAMPAIGN_PREVIOUS: previous = null,
} = process.env;
const SHORT_RUN = 1_500;
const MINUTE_MS = 60_000;
const SHOWN = 20;
/** Beside the load: starts, the end of what is under way, and the checks. */
const REST_MINUTES = 15;

const seed = Number(givenSeed ?? Date.now() % 2 ** 31);
const users = Number(givenUsers ?? 24);
const minutes = givenMinutes === undefined ? null : Number(givenMinutes);
const sessions = givenSessions === undefined ? (minutes === null ? SHORT_RUN : null) : Number(givenSessions);
const timeout = ((minutes ?? 10) + REST_MINUTES) * MINUTE_MS;

it(`random faults break no promise (npm run faults -- --seed ${seed})`, { timeout }, async () => {
  const queues = isRedisInstalled() ? 'redis' : 'postgresql';
  const startedAt = performance.now();
  const log = (line: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    process.stdout.write(`[faults +${seconds}s] ${line}\n`);
  };
  log(`seed ${seed}, queues on ${queues}`);
  const { violations, counts, faults, failures } = await runCampaign({
    ...{ seed, sessions, minutes, users, previous, queues, log },
  });
  for (const [name, count] of [...faults].sort(([one], [other]) => one.localeCompare(other))) log(`${count} × ${name}`);
  for (const [name, count] of Object.entries(counts)) log(`${count} ${name}`);
  for (const { invariant, text } of violations.slice(0, SHOWN)) log(`BROKEN: ${INVARIANTS[invariant]}: ${text}`);
  for (const failure of failures) log(`NOT ENDED: ${failure}`);
  expect(violations.slice(0, SHOWN)).toEqual([]);
  expect(failures).toEqual([]);
});
