import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import type { Column } from '../ui/data-table.js';
import { DataTable } from '../ui/data-table.js';
import { Panel } from '../ui/layout.js';
import { BrandName } from '../ui/names.js';
import { Empty, Loaded } from '../ui/states.js';
import { Change, count, percent, time } from './figures.js';
import { breakdownQuery, conversionOf, type Group, keyOf, type RangeSearch } from './overview-queries.js';

type Row = readonly [now: Group, before: Group | undefined];

const GROUPINGS = [
  ['channel', 'Channel'],
  ['country', 'Country'],
  ['brand', 'Brand'],
] as const;

const CHANNELS: Readonly<Record<string, string>> = { rcs: 'Card', sms_fallback: 'SMS', sms_otp: 'Codes' };
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

function Name({ of: { channel, country, brandId } }: { readonly of: Group }): JSX.Element {
  if (brandId !== undefined) return <BrandName id={brandId} />;
  if (country !== undefined) return <>{country === '001' ? 'No country' : regions.of(country)}</>;
  return <>{CHANNELS[channel ?? ''] ?? channel}</>;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Group',
    value: ([group]) => keyOf(group),
    cell: ([group]) => (
      <strong>
        <Name of={group} />
      </strong>
    ),
  },
  {
    name: 'Created',
    align: 'end',
    value: ([{ funnel }]) => funnel.created ?? 0,
    cell: ([{ funnel }]) => count(funnel.created),
  },
  {
    name: 'Delivered or tapped',
    align: 'end',
    value: ([{ funnel }]) => funnel.deliveredOrTapped ?? 0,
    cell: ([{ funnel }]) => count(funnel.deliveredOrTapped),
  },
  {
    name: 'Approved',
    align: 'end',
    value: ([{ funnel }]) => funnel.approved,
    cell: ([{ funnel }]) => count(funnel.approved),
  },
  {
    name: 'Conversion',
    align: 'end',
    value: ([{ funnel }]) => conversionOf(funnel) ?? 0,
    cell: ([{ funnel }, before]) => (
      <>
        {percent(conversionOf(funnel))}{' '}
        {before !== undefined && conversionOf(before.funnel) !== null && (
          <Change now={conversionOf(funnel)} before={conversionOf(before.funnel)} sense="up" />
        )}
      </>
    ),
  },
  {
    name: 'p50',
    align: 'end',
    value: ([row]) => row.timeToApproveMs.p50 ?? 0,
    cell: ([row]) => time(row.timeToApproveMs.p50),
  },
  {
    name: 'p95',
    align: 'end',
    value: ([row]) => row.timeToApproveMs.p95 ?? 0,
    cell: ([row]) => time(row.timeToApproveMs.p95),
  },
  { name: 'Codes', align: 'end', value: ([row]) => row.codesSent, cell: ([row]) => count(row.codesSent) },
  {
    name: 'Spend',
    align: 'end',
    value: ([row]) => Number(row.spendUsd),
    cell: ([row]) => `$${Number(row.spendUsd).toFixed(2)}`,
  },
];

/** The funnel by channel, country or brand. */
export function Breakdowns({
  search,
  isTest,
}: {
  readonly search: RangeSearch;
  readonly isTest: boolean;
}): JSX.Element {
  const [grouping, setGrouping] = useState<(typeof GROUPINGS)[number][0]>('channel');
  const query = useQuery(breakdownQuery(search, grouping, isTest));
  return (
    <Panel
      title="Funnel by"
      aside={
        <div className="segments" role="group" aria-label="Group by">
          {GROUPINGS.map(([name, shown]) => (
            <button key={name} type="button" aria-pressed={name === grouping} onClick={() => setGrouping(name)}>
              {shown}
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={query} what="the groups">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No session in this range">Choose a longer range.</Empty>
          ) : (
            <DataTable label={`By ${grouping}`} columns={COLUMNS} rows={rows} keyOf={([group]) => keyOf(group)} />
          )
        }
      </Loaded>
    </Panel>
  );
}
