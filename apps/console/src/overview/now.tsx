import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { bindsQuery } from '../binds/bind-queries.js';
import { useBindsInterval } from '../binds/live-binds.js';
import { gatewaysQuery } from '../gateways/gateway-queries.js';
import { type Budget, budgetsQuery, rulesQuery } from '../guard/guard-queries.js';
import { queuesQuery } from '../queues/queue-queries.js';
import { systemsQuery } from '../systems/system-queries.js';
import { Badge, Panel } from '../ui/layout.js';
import { Meter } from '../ui/meter.js';
import { Loaded } from '../ui/states.js';
import { type Incident, incidentsOf } from './incidents.js';

const SLOW_MS = 15_000;
/** Accounts whose caps are shown, the fullest first; the others are on the page of the guard. */
const SHOWN_ACCOUNTS = 5;

type Pages<T> = { readonly pages: readonly { readonly data: readonly T[] }[] };
const rowsOf = <T,>(data: Pages<T> | undefined): readonly T[] => data?.pages.flatMap((page) => page.data) ?? [];

/** Incidents at this moment. */
export function Incidents(): JSX.Element {
  const binds = useInfiniteQuery({ ...bindsQuery, refetchInterval: useBindsInterval() });
  const gateways = useInfiniteQuery(gatewaysQuery);
  const queues = useQuery(queuesQuery);
  const systems = useInfiniteQuery({ ...systemsQuery, refetchInterval: SLOW_MS });
  const rules = useInfiniteQuery({ ...rulesQuery, refetchInterval: SLOW_MS });
  const budgets = useInfiniteQuery(budgetsQuery);
  const all = [binds, gateways, queues, systems, rules, budgets];
  const isKnown = all.every(({ data }) => data !== undefined);
  const query = {
    data: isKnown
      ? incidentsOf({
          binds: rowsOf(binds.data),
          systems: rowsOf(systems.data),
          gateways: rowsOf(gateways.data),
          rules: rowsOf(rules.data),
          budgets: rowsOf(budgets.data),
          queues: queues.data ?? [],
          nowMs: Date.now(),
        })
      : undefined,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => Promise.all(all.map((each) => each.refetch())),
  };
  return (
    <Panel title="Incidents now">
      <Loaded query={query} what="the incidents">
        {(incidents) => (incidents.length === 0 ? <Calm /> : <List of={incidents} />)}
      </Loaded>
    </Panel>
  );
}

const Calm = (): JSX.Element => (
  <p className="calm">
    <Badge tone="good">none</Badge> Binds, systems, gateways, queues and the guard work normally.
  </p>
);

const List = ({ of }: { readonly of: readonly Incident[] }): JSX.Element => (
  <ul className="incidents">
    {of.map(({ id, tone, title, detail, to }) => (
      <li key={`${to} ${id}`} data-tone={tone}>
        <Link to={to}>{title}</Link>
        <span className="soft small">{detail}</span>
      </li>
    ))}
  </ul>
);

const shareOf = ({ today, dailyMessageCap, spentTodayUsd, dailySpendCapUsd }: Budget): number =>
  Math.max(
    dailyMessageCap === 0 ? 0 : today.sends / dailyMessageCap,
    dailySpendCapUsd === null || Number(dailySpendCapUsd) === 0 ? 0 : Number(spentTodayUsd) / Number(dailySpendCapUsd),
  );

/** Codes and spend of this UTC day, against the caps of accounts. */
export function Caps(): JSX.Element {
  const query = useInfiniteQuery(budgetsQuery);
  return (
    <Panel
      title="Codes today against caps"
      aside={
        <Link className="small" to="/guard">
          All accounts
        </Link>
      }
    >
      <Loaded query={query} what="the caps">
        {(data) => (
          <ul className="caps">
            {[...rowsOf(data)]
              .sort((one, other) => shareOf(other) - shareOf(one))
              .slice(0, SHOWN_ACCOUNTS)
              .map((budget) => (
                <Cap key={budget.id} budget={budget} />
              ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

function Cap({ budget }: { readonly budget: Budget }): JSX.Element {
  const { name, today, dailyMessageCap, spentTodayUsd, dailySpendCapUsd: cap } = budget;
  return (
    <li>
      <strong>{name}</strong>
      <Meter label={`Codes of ${name}`} used={today.sends} limit={dailyMessageCap}>
        {today.sends.toLocaleString('en')}{' '}
        <span className="soft small">of {dailyMessageCap.toLocaleString('en')} codes</span>
      </Meter>
      <Meter label={`Spend of ${name}`} used={Number(spentTodayUsd)} limit={cap === null ? null : Number(cap)}>
        ${spentTodayUsd} <span className="soft small">{cap === null ? 'without a cap' : `of $${cap}`}</span>
      </Meter>
    </li>
  );
}
