import { AccountStore } from '@countersign/accounts/accounts';
import { newId, parseId, renderId } from '@countersign/ids';
import type { ClientsFigure, ClientsTask } from './load/clients.js';
import type { HttpsAtRateTask } from './load/https-at-rate.js';
import { phones } from './phones.js';
import { runLoad, type Subject } from './processes.js';
import { startRcsPlatform, type RcsPlatform } from './rcs-platform.js';
import { type Measure, type Ratio, type Row, summarise } from './report.js';
import { alternate } from './rounds.js';
import type { Demo } from './seed.js';
import { median } from './statistics.js';
import { type Environment, startControlPlane } from './subjects.js';

const SECTION = 'rcs';
const PER_SECOND = 200;
const WARM_UP_CREATES = 100;
/** Creates that wait at once, … */
const CLIENTS = 1_000;
/** … all sent within this time, so that every card is claimed, … */
const GATHER_SECONDS = 3;
/** … for the longest wait that can be configured. */
const WAIT_SECONDS = 8;
const ALONE_SECONDS = 5;
/** Smallest share of them that must still wait, or the measurement fails. */
const LEAST_CLIENTS = 0.95;

const DELIVERED_AT_ONCE = { reachable: true, online: true, deliverAfterMs: 0 };
const OFFLINE = { reachable: true, online: false, deliverAfterMs: 0 };

type Channel = 'rcs' | 'sms_fallback';
type Figures = { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] };

interface Caller {
  readonly demo: Demo;
  /** A brand that has an agent, `brd_…`. */
  readonly brandId: string;
  readonly port: number;
}

const ratio = (name: string, value: number, reachFor: string): Ratio => ({ section: SECTION, name, value, reachFor });
const rounded = (value: number): number => Math.round(value * 100) / 100;

async function brandWithAgent({ database, keys, accountId }: Demo): Promise<string> {
  const account = parseId('acct', accountId);
  if (account === null) throw new Error('the seed answered an id that does not parse');
  const accounts = new AccountStore({ keys, newId: () => newId(Date.now()) });
  const brand = await accounts.createBrand(database, {
    accountId: account,
    name: 'Bench',
    slug: 'BENCHRCS',
    instruction: 'Send this message to sign in to Bench.',
    rcsAgentId: 'countersign_bench',
    entropyKeyVersion: 1,
  });
  return renderId('brd', brand.id);
}

/** Without a channel the create tries a card. */
const bodyFor = ({ demo, brandId }: Caller, phone: string, channel: Channel): string =>
  JSON.stringify({
    phone,
    accountId: demo.accountId,
    brandId,
    clientChallenge: 'a'.repeat(64),
    webhookUrl: 'https://hooks.example.com/countersign',
    ttl: 120,
    ...(channel === 'rcs' ? {} : { channel }),
    allowSmsOtp: true,
    metadata: { order: '12345', cart: 'a-17' },
  });

/** One run at the constant rate, each create for a different phone. */
function creates(caller: Caller, numbers: readonly string[], channel: Channel): Promise<Measure> {
  return runLoad<Measure>('https-at-rate.js', {
    port: caller.port,
    apiKey: caller.demo.apiKey,
    method: 'POST',
    requests: numbers.map((phone) => ({ path: '/v1/verify', body: bodyFor(caller, phone, channel) })),
    pace: { perSecond: PER_SECOND, count: numbers.length, ramp: WARM_UP_CREATES },
    expected: `"channel":"${channel}"`,
  } satisfies HttpsAtRateTask);
}

/** The cost of a card: the same creates with and without one, at a rate below saturation. */
async function added(
  caller: Caller,
  platform: RcsPlatform,
  product: Subject,
  { rounds, perRun, numbers }: { readonly rounds: number; readonly perRun: number; readonly numbers: string[] },
): Promise<Figures> {
  const next = (): string[] => numbers.splice(0, perRun);
  const withCards = async (): Promise<Measure> => {
    const own = next();
    await platform.setPhones(own, DELIVERED_AT_ONCE);
    return creates(caller, own, 'rcs');
  };
  const others = numbers.slice(0, perRun);
  for (const run of [() => creates(caller, others, 'sms_fallback'), withCards]) await run(); // warm, not counted
  const [plain, cards] = await alternate(SECTION, rounds, [
    {
      subject: { ...product, name: `sms_fallback, ${PER_SECOND}/s` },
      run: () => creates(caller, others, 'sms_fallback'),
    },
    { subject: { ...product, name: `rcs, delivered at once, ${PER_SECOND}/s` }, run: withCards },
  ]);
  return {
    rows: [plain, cards],
    ratios: [
      ratio('p50 ms added over sms_fallback', rounded(cards.p50Ms - plain.p50Ms), 'measured'),
      ratio('p99 ms added over sms_fallback', rounded(cards.p99Ms - plain.p99Ms), '< 25'),
    ],
  };
}

async function clientsRun(caller: Caller, platform: RcsPlatform, numbers: readonly string[]): Promise<ClientsFigure> {
  await platform.setPhones(numbers, OFFLINE);
  const figure = await runLoad<ClientsFigure>('crowd.js', {
    port: caller.port,
    apiKey: caller.demo.apiKey,
    perSecond: PER_SECOND,
    bodies: phones(PER_SECOND).map((phone) => bodyFor(caller, phone, 'sms_fallback')),
    aloneSeconds: ALONE_SECONDS,
    clients: numbers.map((phone) => bodyFor(caller, phone, 'rcs')),
    gatherSeconds: GATHER_SECONDS,
    waitSeconds: WAIT_SECONDS,
  } satisfies ClientsTask);
  const { alone, beside, waited } = figure;
  process.stderr.write(`${SECTION} p99 ${alone.p99Ms} ms alone, ${beside.p99Ms} ms beside ${waited} that wait\n`);
  return figure;
}

/** Whether creates that wait for unreachable phones slow down others. */
async function besideClients(
  caller: Caller,
  platform: RcsPlatform,
  product: Subject,
  { rounds, numbers }: { readonly rounds: number; readonly numbers: string[] },
): Promise<Figures> {
  const figures: ClientsFigure[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    figures.push(await clientsRun(caller, platform, numbers.splice(0, CLIENTS)));
  }
  const waited = Math.min(...figures.map((figure) => figure.waited));
  const named = waited < LEAST_CLIENTS * CLIENTS ? `only ${waited} of ${CLIENTS}` : String(waited);
  const row = (subject: string, measures: readonly Measure[]): Row =>
    summarise(SECTION, subject, measures, product.rssMiB());
  return {
    rows: [
      row(
        `sms_fallback, ${PER_SECOND}/s, nobody waits`,
        figures.map(({ alone }) => alone),
      ),
      row(
        `sms_fallback, ${PER_SECOND}/s, ${named} wait`,
        figures.map(({ beside }) => beside),
      ),
    ],
    ratios: [
      ratio(
        `p99 beside ${named} that wait, of p99 alone`,
        rounded(median(figures.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms))),
        '<= 1.2',
      ),
    ],
  };
}

/**
 * HTTPS `POST /v1/verify` with a card, against the simulated platform: the cost of a card that is delivered at once,
 * and the cost of waiting creates for others.
 */
export async function benchRcs(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const perRun = PER_SECOND * seconds + WARM_UP_CREATES;
  const numbers = phones(perRun * (rounds + 1) + CLIENTS * rounds);
  const platform = await startRcsPlatform(environment);
  const product = await startControlPlane('countersign', {
    ...environment,
    RCS_DELIVERY_WAIT_MS: String(WAIT_SECONDS * 1_000),
    RCS_UNREACHABLE_SECONDS: '0',
  });
  try {
    const caller = { demo, brandId: await brandWithAgent(demo), port: product.port };
    const figures = [
      await added(caller, platform, product, { rounds, perRun, numbers }),
      await besideClients(caller, platform, product, { rounds, numbers }),
    ];
    return { rows: figures.flatMap(({ rows }) => rows), ratios: figures.flatMap((each) => each.ratios) };
  } finally {
    await product.stop();
    await platform.stop();
  }
}
