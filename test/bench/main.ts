import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { benchCheck } from './check.js';
import { benchCreate } from './create.js';
import { optional, required, runEnvironment } from './environment.js';
import { benchGrowth } from './growth.js';
import { benchInbound } from './inbound.js';
import { benchLifecycle } from './lifecycle.js';
import { benchMemory } from './memory.js';
import { benchOverload } from './overload.js';
import { benchOverview } from './overview.js';
import { benchPoll } from './poll.js';
import { PROFILE } from './probe/probes.js';
import { writeProfiles } from './profile/files.js';
import { benchRcs } from './rcs.js';
import { benchRealtime } from './realtime.js';
import { render, type Section } from './report.js';
import { prepare } from './seed.js';
import { benchScale } from './scale.js';
import { benchSmpp } from './smpp.js';
import { benchSoak } from './soak.js';
import { benchUsage } from './usage.js';
import { benchWebhooks } from './webhooks.js';

const ROUNDS = 3;
const CREATE_SECONDS = 4;
const SMPP_SECONDS = 2;
const SOAK_SECONDS = 120;

const wanted = new Set(process.argv.slice(2));
const runs = (section: string): boolean => wanted.size === 0 || wanted.has(section);

const masterKey = randomBytes(32);
const processes = runEnvironment(masterKey, {
  DATABASE_URL: required('DATABASE_URL'),
  ...optional('REDIS_URL'),
  ...optional('BENCH_POSTGRES_PID'),
  ...optional('BENCH_REDIS_PID'),
});
const demo = await prepare(processes, masterKey);
const certificate = readFileSync(required('TLS_CA_FILE'), 'utf8');
try {
  const sections: Section[] = [];
  if (runs('create')) sections.push(await benchCreate(processes, { ...demo, certificate }, ROUNDS, CREATE_SECONDS));
  if (runs('inbound')) sections.push(await benchInbound(processes, demo, ROUNDS));
  if (runs('check')) sections.push(await benchCheck(processes, demo, ROUNDS));
  if (runs('poll')) sections.push(await benchPoll(processes, demo, ROUNDS, CREATE_SECONDS));
  if (runs('smpp')) sections.push(await benchSmpp(processes, ROUNDS, SMPP_SECONDS));
  if (runs('rcs')) sections.push(await benchRcs(processes, demo, ROUNDS, CREATE_SECONDS));
  if (runs('webhooks')) sections.push(await benchWebhooks(processes, demo, ROUNDS, CREATE_SECONDS));
  if (runs('lifecycle')) sections.push(await benchLifecycle(processes, demo, ROUNDS, CREATE_SECONDS));
  if (runs('realtime')) sections.push(await benchRealtime(processes, demo, ROUNDS, CREATE_SECONDS));
  if (runs('overload')) sections.push(await benchOverload(processes, { ...demo, certificate }, ROUNDS));
  if (runs('scale'))
    sections.push(await benchScale(processes, { ...demo, certificate }, { rounds: ROUNDS, seconds: CREATE_SECONDS }));
  // Only when they are named: soak takes a fixed time on any machine, memory leaves a million rows, and growth fills disks.
  if (wanted.has('memory')) sections.push(await benchMemory(processes, demo));
  if (wanted.has('growth')) sections.push(await benchGrowth(processes, demo, masterKey));
  if (wanted.has('soak')) sections.push(await benchSoak(processes, SOAK_SECONDS));
  if (runs('usage')) sections.push(await benchUsage(processes, { ...demo, certificate }, ROUNDS, CREATE_SECONDS));
  if (runs('overview')) sections.push(await benchOverview(processes, demo, ROUNDS));
  const rows = sections.flatMap((section) => section.rows);
  const ratios = sections.flatMap((section) => section.ratios);
  const folder = process.env[PROFILE];
  if (folder !== undefined) process.stdout.write(`\n${writeProfiles(folder, rows)}\n`);
  const machine = {
    cores: os.cpus().length,
    cpu: os.cpus()[0]?.model ?? 'unknown',
    node: process.version,
    queues: processes['REDIS_URL'] === undefined ? 'postgresql' : 'redis',
  };
  // Of a profile, its files are enough.
  const figures = rows.map((row) => ({ ...row, profiles: undefined }));
  const notes = sections.flatMap((section) => section.notes ?? []);
  const report = [render(rows, ratios), ...notes].join('\n\n');
  process.stdout.write(`\n${report}\n\n${JSON.stringify({ machine, rows: figures, ratios })}\n`);
} finally {
  await demo.close();
}
