import type { JSX } from 'react';
import { duration } from '../ui/times.js';
import { type Compared, conversionOf, type Figures } from './overview-queries.js';

export const count = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en'));
export const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);
export const time = (ms: number | null): string => (ms === null ? '–' : duration(ms));

/** Whether more is better, worse, or neither. */
type Sense = 'up' | 'down' | 'none';

interface TileProps {
  readonly name: string;
  readonly shown: string;
  readonly detail?: string;
  readonly now: number | null;
  readonly before: number | null;
  readonly sense: Sense;
}

/** Changes below this share are noise. */
const NOISE = 0.02;

function toneOf(change: number, sense: Sense): 'good' | 'bad' | 'quiet' {
  if (sense === 'none' || Math.abs(change) < NOISE) return 'quiet';
  return change > 0 === (sense === 'up') ? 'good' : 'bad';
}

/** The change against a week earlier; nothing without a figure of that time. */
export function Change({ now, before, sense }: Pick<TileProps, 'now' | 'before' | 'sense'>): JSX.Element | null {
  if (now === null || before === null || before === 0) return null;
  const change = now / before - 1;
  const shown = `${change >= 0 ? '+' : '−'}${String(Math.abs(Math.round(change * 100)))} %`;
  return (
    <span className="change small" data-tone={toneOf(change, sense)}>
      {shown}
      <span className="visually-hidden"> against a week earlier</span>
    </span>
  );
}

const Tile = ({ name, shown, detail, ...change }: TileProps): JSX.Element => (
  <div className="tile">
    <dt>{name}</dt>
    <dd>
      <strong>{shown}</strong>
      <span className="tile-foot">
        <Change {...change} />
        {detail !== undefined && <span className="soft small">{detail}</span>}
      </span>
    </dd>
  </div>
);

const tilesOf = (now: Figures, before: Figures): readonly TileProps[] => [
  {
    name: 'Created',
    shown: count(now.funnel.created),
    now: now.funnel.created,
    before: before.funnel.created,
    sense: 'none',
  },
  {
    name: 'Delivered or tapped',
    shown: count(now.funnel.deliveredOrTapped),
    now: now.funnel.deliveredOrTapped,
    before: before.funnel.deliveredOrTapped,
    sense: 'none',
  },
  {
    name: 'Approved',
    shown: count(now.funnel.approved),
    now: now.funnel.approved,
    before: before.funnel.approved,
    sense: 'up',
  },
  {
    name: 'Conversion',
    shown: percent(conversionOf(now.funnel)),
    now: conversionOf(now.funnel),
    before: conversionOf(before.funnel),
    sense: 'up',
  },
  {
    name: 'Time to approve, p50',
    shown: time(now.timeToApproveMs.p50),
    now: now.timeToApproveMs.p50,
    before: before.timeToApproveMs.p50,
    sense: 'down',
  },
  {
    name: 'Time to approve, p95',
    shown: time(now.timeToApproveMs.p95),
    now: now.timeToApproveMs.p95,
    before: before.timeToApproveMs.p95,
    sense: 'down',
  },
  { name: 'Codes sent', shown: count(now.codesSent), now: now.codesSent, before: before.codesSent, sense: 'none' },
  {
    name: 'Spend',
    shown: `$${Number(now.spendUsd).toFixed(2)}`,
    now: Number(now.spendUsd),
    before: Number(before.spendUsd),
    sense: 'none',
  },
];

export const Tiles = ({ of: { now, before } }: { readonly of: Compared }): JSX.Element => (
  <dl className="tiles">
    {tilesOf(now, before).map((tile) => (
      <Tile key={tile.name} {...tile} />
    ))}
  </dl>
);

/** The way of the sessions: each step as a share of those that were created. */
export function Funnel({ of: { now } }: { readonly of: Compared }): JSX.Element {
  const { created, deliveredOrTapped, approved, denied, expired, cancelled } = now.funnel;
  const all = created ?? 0;
  const steps = [
    ['Created', created],
    ['Delivered or tapped', deliveredOrTapped],
    ['Approved', approved],
  ] as const;
  return (
    <>
      <ol className="funnel">
        {steps.map(([name, value]) => (
          <li key={name}>
            <span>{name}</span>
            <div className="funnel-bar" aria-hidden="true">
              <span style={{ inlineSize: `${String(all === 0 ? 0 : ((value ?? 0) / all) * 100)}%` }} />
            </div>
            <span className="funnel-value">
              <strong>{count(value)}</strong>{' '}
              <span className="soft small">{all === 0 ? '' : percent((value ?? 0) / all)}</span>
            </span>
          </li>
        ))}
      </ol>
      <p className="soft small">
        {count(denied)} denied, {count(expired)} expired, {count(cancelled)} cancelled.
      </p>
    </>
  );
}
