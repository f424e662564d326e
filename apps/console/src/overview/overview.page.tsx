import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type JSX, lazy, Suspense, useMemo } from 'react';
import { Button } from '../ui/button.js';
import { Page, Panel } from '../ui/layout.js';
import { Loaded, Loading } from '../ui/states.js';
import { localTime } from '../ui/times.js';
import { Breakdowns } from './breakdowns.js';
import type { Series } from './chart.js';
import { Funnel, Tiles } from './figures.js';
import { Caps, Incidents } from './now.js';
import {
  type Compared,
  type Group,
  isRangeName,
  overviewQuery,
  RANGES,
  type RangeSearch,
  WEEK_MS,
} from './overview-queries.js';
import './overview.css';

const Chart = lazy(() => import('./chart.js'));
const route = getRouteApi('/shell/overview');

export function OverviewPage(): JSX.Element {
  const { mode, ...search } = route.useSearch();
  const isTest = mode === 'test';
  const query = useQuery(overviewQuery(search, isTest));
  return (
    <Page
      title="Overview"
      lead={isTest ? 'Sessions of test keys.' : 'Sessions of all accounts, compared with the same time a week earlier.'}
      actions={<RangeChoice search={search} mode={mode} />}
    >
      <Incidents />
      <Loaded query={query} what="the overview">
        {(compared) => (
          <>
            <Tiles of={compared} />
            {(compared.before.funnel.created ?? 0) === 0 && (
              <p className="soft small">There was no session a week earlier, so no change is shown.</p>
            )}
            <div className="overview-pair">
              <Panel title="Sessions over time">
                <OverTime of={compared} />
              </Panel>
              <Panel title="Funnel">
                <Funnel of={compared} />
              </Panel>
            </div>
          </>
        )}
      </Loaded>
      <Breakdowns search={search} isTest={isTest} />
      {!isTest && <Caps />}
    </Page>
  );
}

/** For an input of a date and a time, in the reader's zone. */
function inputTime(iso: string | undefined): string {
  if (iso === undefined || Number.isNaN(Date.parse(iso))) return '';
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function RangeChoice({
  search,
  mode,
}: {
  readonly search: RangeSearch;
  readonly mode: string | undefined;
}): JSX.Element {
  const navigate = route.useNavigate();
  const { range, from, to } = search;
  const isOwn = from !== undefined || to !== undefined;
  const current = isOwn ? undefined : isRangeName(range) ? range : '24h';
  const kept = mode === undefined ? {} : { mode };
  const apply = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const times: { from?: string; to?: string } = {};
    for (const name of ['from', 'to'] as const) {
      const value = form.get(name);
      if (typeof value === 'string' && value !== '') times[name] = new Date(value).toISOString();
    }
    void navigate({ search: { ...kept, ...times } });
  };
  return (
    <>
      <nav className="segments" aria-label="Range">
        {Object.entries(RANGES).map(([name, [shown]]) => (
          <Link
            key={name}
            to="/overview"
            search={{ ...kept, range: name }}
            aria-current={name === current ? 'true' : undefined}
          >
            {shown}
          </Link>
        ))}
      </nav>
      <details className="own-range" open={isOwn}>
        <summary className="button">Custom range</summary>
        <form onSubmit={apply} key={`${String(from)} ${String(to)}`}>
          <label className="field">
            <span>From</span>
            <input type="datetime-local" name="from" defaultValue={inputTime(from)} required />
          </label>
          <label className="field">
            <span>To</span>
            <input type="datetime-local" name="to" defaultValue={inputTime(to)} />
          </label>
          <Button type="submit" kind="tonal">
            Show
          </Button>
        </form>
      </details>
      <Link className="button" to="/overview" search={mode === 'test' ? search : { ...search, mode: 'test' }}>
        {mode === 'test' ? 'Live mode' : 'Test mode'}
      </Link>
    </>
  );
}

const timeOf = ({ day, hour }: Group): number => Date.parse(hour ?? `${day ?? ''}T00:00:00Z`) / 1_000;

/** Every hour or day of the range; those without sessions are not in the answer. */
function pointsOf({ range, now, before }: Compared): {
  readonly times: readonly number[];
  readonly series: readonly Series[];
} {
  const isHourly = (now.breakdown ?? before.breakdown ?? [])[0]?.day === undefined;
  const step = isHourly ? 3_600 : 86_400;
  const first = Math.floor(range.fromMs / 1_000 / step) * step;
  const times: number[] = [];
  for (let at = first; at * 1_000 < range.toMs; at += step) times.push(at);
  const groups = new Map((now.breakdown ?? []).map((group) => [timeOf(group), group.funnel]));
  const old = new Map((before.breakdown ?? []).map((group) => [timeOf(group) + WEEK_MS / 1_000, group.funnel]));
  const series: readonly Series[] = [
    { name: 'Created', color: '--accent', values: times.map((at) => groups.get(at)?.created ?? 0) },
    { name: 'Approved', color: '--good', values: times.map((at) => groups.get(at)?.approved ?? 0) },
    {
      name: 'Created a week before',
      color: '--ink-soft',
      isDashed: true,
      values: times.map((at) => old.get(at)?.created ?? 0),
    },
  ];
  return { times, series };
}

function OverTime({ of }: { readonly of: Compared }): JSX.Element {
  const { times, series } = useMemo(() => pointsOf(of), [of]);
  const { created, approved } = of.now.funnel;
  const label = `Sessions from ${localTime(of.now.period.from)} to ${localTime(of.now.period.to)}: ${String(created)} created, ${String(approved)} approved.`;
  return (
    <Suspense fallback={<Loading what="the chart" />}>
      <Chart label={label} times={times} series={series} />
      <details className="small">
        <summary>As a table</summary>
        <div className="chart-table" tabIndex={0} role="region" aria-label="Sessions over time as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {series.map(({ name }) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((at, index) => (
                <tr key={at}>
                  <th scope="row">{localTime(new Date(at * 1_000).toISOString())}</th>
                  {series.map(({ name, values }) => (
                    <td key={name}>{values[index]}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Suspense>
  );
}
