import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountsQuery } from '../api/names.js';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { ChoiceField, Filters, TextField } from '../ui/filters.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { AccountName } from '../ui/names.js';
import { Empty } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { deliveryTone, isAccepted } from '../webhook/delivery-tone.js';
import { type Attempt, deliveriesQuery, type Delivery, resultOf } from './delivery-queries.js';

const route = getRouteApi('/shell/webhooks');

const STATUSES = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['blocked', 'Blocked'],
] as const;
const MODES = [
  ['', 'Live and test'],
  ['live', 'Live'],
  ['test', 'Test'],
] as const;

const LastAttempt = ({ of }: { readonly of: Attempt | null }): JSX.Element =>
  of === null ? (
    <span className="soft">none yet</span>
  ) : (
    <>
      <span className={isAccepted(of) ? undefined : 'bad'}>{resultOf(of)}</span>{' '}
      <span className="soft small">
        <Ago at={of.at} />
      </span>
    </>
  );

const COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Event',
    value: ({ type }) => type,
    cell: ({ id, type, test }) => (
      <>
        <Link to="/webhooks/$id" params={{ id }}>
          {type}
        </Link>{' '}
        {test && <Badge tone="warn">test</Badge>}
      </>
    ),
  },
  {
    name: 'Status',
    value: (row) => row.status,
    cell: (row) => <Badge tone={deliveryTone(row.status, row.attemptsMade)}>{row.status}</Badge>,
  },
  { name: 'To', value: ({ url }) => url, cell: ({ url }) => <span className="url mono small">{url}</span> },
  { name: 'Account', cell: ({ accountId }) => <AccountName id={accountId} /> },
  { name: 'Attempts', align: 'end', value: (row) => row.attemptsMade, cell: ({ attemptsMade }) => attemptsMade },
  { name: 'Last result', cell: ({ lastAttempt }) => <LastAttempt of={lastAttempt} /> },
  {
    name: 'Next',
    value: (row) => row.nextAttemptAt ?? '',
    cell: ({ nextAttemptAt }) => <Ago at={nextAttemptAt} />,
  },
];

export function DeliveriesPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: accounts = [] } = useQuery(accountsQuery);
  const query = useInfiniteQuery(deliveriesQuery(search));
  return (
    <Page
      title="Webhooks"
      lead="Deliveries to the servers of accounts, newest first. Open one for its attempts and its body."
      actions={<Button onPress={() => void query.refetch()}>{query.isRefetching ? 'Reading…' : 'Refresh'}</Button>}
    >
      <Filters<'status' | 'accountId' | 'sessionId' | 'mode'> onApply={(values) => void navigate({ search: values })}>
        <TextField name="sessionId" label="Session" value={search.sessionId} placeholder="sess_…" />
        <ChoiceField name="status" label="Status" value={search.status} choices={STATUSES} />
        <ChoiceField
          name="accountId"
          label="Account"
          value={search.accountId}
          choices={[['', 'Any'], ...accounts.map(({ id, name }) => [id, name] as const)]}
        />
        <ChoiceField name="mode" label="Mode" value={search.mode} choices={MODES} />
      </Filters>
      <ListingTable
        query={query}
        what="deliveries"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        loadsItself
        empty={
          <Empty title={Object.keys(search).length === 0 ? 'No delivery yet' : 'No delivery matches'}>
            {Object.keys(search).length === 0 ? '' : 'Remove a filter. '}A webhook is sent when a session ends and it,
            or its account, has a webhook URL.
          </Empty>
        }
      />
    </Page>
  );
}
