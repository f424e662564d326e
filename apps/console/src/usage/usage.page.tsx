import { useQuery } from '@tanstack/react-query';
import { type JSX, useMemo, useState } from 'react';
import { accountQuery, ownBrandsQuery } from '../account/account-queries.js';
import { useScope } from '../account/scope.js';
import { BarChart } from '../ui/bar-chart.js';
import { Button } from '../ui/button.js';
import { Facts, Page, Panel } from '../ui/layout.js';
import { saveText } from '../ui/save-file.js';
import { Empty, Loaded } from '../ui/states.js';
import { UsageTable } from './usage-table.js';
import { csvOf, everyDay, type Grouping, othersOf, type Usage, type UsageGroup, usageQuery } from './usage-queries.js';
import './usage.css';

const PERIODS = [7, 30, 90] as const;
type Period = (typeof PERIODS)[number];

const SERIES = [
  { name: 'approved', tone: 'good' },
  { name: 'denied', tone: 'bad' },
  { name: 'expired', tone: 'warn' },
  { name: 'pending or cancelled', tone: 'quiet' },
] as const;
const COST = [{ name: 'cost', tone: 'accent' }] as const;

const usd = (value: number): string => `$${value.toFixed(value !== 0 && value < 0.1 ? 4 : 2)}`;
const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
const share = (part: number, whole: number): string => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`);

/** Sessions and their cost, by day, country and brand. */
export function UsagePage(): JSX.Element {
  const scope = useScope();
  const [days, setDays] = useState<Period>(30);
  const byDay = useQuery(usageQuery(scope, days, 'day'));
  return (
    <Page
      title="Usage"
      lead={
        scope.mode === 'test'
          ? 'Sessions of test keys. They cost nothing; switch test mode off for live sessions and their cost.'
          : 'Live sessions by the day (UTC) they were created, at the prices of that time.'
      }
      actions={
        <div className="segments" role="group" aria-label="Period">
          {PERIODS.map((each) => (
            <button key={each} type="button" aria-pressed={each === days} onClick={() => setDays(each)}>
              {each} days
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={byDay} what="usage">
        {(usage) => <Report usage={usage} />}
      </Loaded>
      <div className="usage-grid">
        <Breakdown days={days} groupBy="country" title="By country" />
        <Breakdown days={days} groupBy="brand" title="By brand" />
      </div>
      <Caps />
    </Page>
  );
}

function Report({ usage }: { readonly usage: Usage }): JSX.Element {
  const days = useMemo(() => everyDay(usage), [usage]);
  const { total, approved } = usage.verifications;
  const cost = Number(usage.estimatedCostUsd);
  if (total === 0)
    return (
      <div className="table-frame">
        <Empty title="No session in this period">
          Open one with the code of the quickstart, or choose a longer period.
        </Empty>
      </div>
    );
  const sums = `${count(total)} sessions, ${count(approved)} of them approved, ${usd(cost)}`;
  return (
    <>
      <dl className="figures">
        <Figure name="Sessions" value={count(total)} />
        <Figure name="Approved" value={count(approved)} more={share(approved, total)} />
        <Figure name="By RCS card" value={count(usage.channels.rcs)} more={share(usage.channels.rcs, total)} />
        <Figure
          name="Estimated cost"
          value={usd(cost)}
          more={approved === 0 || cost === 0 ? '' : `${usd(cost / approved)} an approval`}
        />
      </dl>
      <Panel title="Sessions by day" aside={<SaveCsv name="day" groups={days} />}>
        <BarChart label={`Sessions by day: ${sums}`} series={SERIES} bars={days.map(barOf)} format={count} />
        <details className="usage-more">
          <summary>As a table</summary>
          <UsageTable label="Usage by day" name="Day (UTC)" groups={days} labelOf={({ day = '' }) => day} />
        </details>
      </Panel>
      {cost > 0 && (
        <Panel title="Cost by day">
          <BarChart label={`Cost by day: ${usd(cost)}`} series={COST} bars={days.map(costOf)} format={usd} />
        </Panel>
      )}
    </>
  );
}

const barOf = (group: UsageGroup) => {
  const { approved, denied, expired } = group.verifications;
  return { label: group.day ?? '', values: [approved, denied, expired, othersOf(group)] };
};
const costOf = ({ day = '', estimatedCostUsd }: UsageGroup) => ({ label: day, values: [Number(estimatedCostUsd)] });

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

const Figure = ({ name, value, more = '' }: FigureProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>
      {value} <small>{more}</small>
    </dd>
  </div>
);

const SaveCsv = ({ name, groups }: { readonly name: string; readonly groups: readonly UsageGroup[] }): JSX.Element => (
  <Button onPress={() => saveText(`usage-by-${name}.csv`, csvOf(name, groups), 'text/csv')}>
    Save as CSV<span className="visually-hidden"> by {name}</span>
  </Button>
);

interface BreakdownProps {
  readonly days: Period;
  readonly groupBy: Exclude<Grouping, 'day'>;
  readonly title: string;
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

function Breakdown({ days, groupBy, title }: BreakdownProps): JSX.Element {
  const scope = useScope();
  const query = useQuery(usageQuery(scope, days, groupBy));
  const { data: brands = [] } = useQuery(ownBrandsQuery(scope));
  const labelOf = ({ country, brandId }: UsageGroup): string => {
    if (country !== undefined) return country === '001' ? 'no country' : (countries.of(country) ?? country);
    return brands.find(({ id }) => id === brandId)?.name ?? brandId ?? '';
  };
  const { data } = query;
  const groups = data?.breakdown ?? [];
  return (
    <Panel title={title} aside={groups.length > 0 && <SaveCsv name={groupBy} groups={groups} />}>
      <Loaded query={query} what={title.toLowerCase()}>
        {() =>
          groups.length === 0 ? (
            <p className="soft">No session in this period.</p>
          ) : (
            <UsageTable
              label={`${title}, as numbers`}
              name={groupBy === 'brand' ? 'Brand' : 'Country'}
              groups={groups}
              labelOf={labelOf}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** The limits that an operator has set. */
function Caps(): JSX.Element {
  const query = useQuery(accountQuery(useScope()));
  return (
    <Panel title="Limits of codes">
      <Loaded query={query} what="the account">
        {({ otpDailyMessageCap, otpDailySpendCapUsd, otpCountries, otpUnconvertedFloor }) => (
          <>
            <Facts
              of={[
                ['Codes a day', count(otpDailyMessageCap)],
                ['Spend a day', otpDailySpendCapUsd === null ? 'no cap' : `$${otpDailySpendCapUsd}`],
                ['Countries', otpCountries.includes('*') ? 'all' : otpCountries.join(', ') || 'none'],
                ['Unused codes an hour', count(otpUnconvertedFloor)],
              ]}
            />
            <p className="soft small">
              An operator of the installation sets them. <a href="/docs/codes">More about codes and their limits</a>
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
