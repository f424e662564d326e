import type { HonestRun, SharedRun } from './scenarios.js';
import { HOUR_MS, mostOnADay, mostWithin } from './traffic.js';

interface GuardFigures {
  readonly pumped: readonly { readonly name: string; readonly sent: readonly number[] }[];
  readonly ownPhones: readonly { readonly phones: number; readonly elsewhere: number; readonly everywhere: number }[];
  readonly grown: readonly HonestRun[];
  readonly shared: readonly { readonly perSecond: number; readonly run: SharedRun }[];
}

const percent = ({ sends, refused }: HonestRun): string => `${((100 * refused) / (sends + refused)).toFixed(2)} %`;
const count = (value: number): string => value.toLocaleString('en-US');
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** The page `/docs/guard` with the figures of the simulation. */
export function renderGuardPage({ pumped, ownPhones, grown, shared }: GuardFigures): string {
  const pumping = pumped.map(({ name, sent }) => row([name, mostWithin(sent, HOUR_MS), mostOnADay(sent)]));
  const owned = ownPhones.map(({ phones, elsewhere, everywhere }) => row([phones, elsewhere, everywhere]));
  const growth = grown.map((hour, at) => row([at + 1, count(hour.sends), hour.refused]));
  const sharing = shared.map(({ perSecond, run }) =>
    row([perSecond, percent(run.known), percent(run.fresh), count(run.attempts), count(run.attacker)]),
  );
  return `# What the guard lets through

These figures come from a simulation of the rules that the service itself runs, with default settings: \`otpUnconvertedFloor\` 50, \`otpDailyMessageCap\` 1,000. [Codes by SMS](/docs/codes#guard) explains the rules. The page is generated; from a clone of the repository:

\`\`\`sh
npx vitest run -c config/tooling/vitest.config.ts --project small test/simulation -u
\`\`\`

## A pumper who never approves

Two days of attempts, every ten seconds unless the row says otherwise. The most codes that he got:

| Attempts | In any hour | On one day (UTC) |
|---|---|---|
${pumping.join('\n')}

## A pumper who approves with phones of his own

One day. He uses up the floor of the day first, then approves with each phone once, spread over the day, and asks for twelve codes a minute to numbers that are not his. A phone pays for 4 codes anywhere. Where the numbers that he pumps lie in the same blocks of 10,000 as his own phones, it pays for up to 5 more.

| Own phones | Codes to other blocks | Codes with his own blocks |
|---|---|---|
${owned.join('\n')}

## An honest account that grows

70 of 100 users approve, after 20 seconds in the median. The rate is 0.5 codes a second, grows tenfold within the second hour, and stays. No phone was seen before; \`otpDailyMessageCap\` is raised.

| Hour | Codes | Refused |
|---|---|---|
${growth.join('\n')}

## An honest account whose page is pumped

One code a second to honest users, half of whom approved within the last 30 days. After an hour somebody pumps codes through the same page, to random numbers of the same countries, for three hours.

| Attempts a second | Refused, phone seen before | Refused, new phone | Attempts | Codes for the pumper |
|---|---|---|---|---|
${sharing.join('\n')}

New phones are refused while the pumper uses up the credits that honest users earn. They can still verify by SMS from the phone or by card, which the guard never refuses. To end such an attack, limit the page itself: a pumper who gets one code per browser and minute gets few.
`;
}
