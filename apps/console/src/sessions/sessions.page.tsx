import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type JSX, useMemo } from 'react';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { ChoiceField, Filters, TextField } from '../ui/filters.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { Phone } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { duration } from '../ui/times.js';
import { CHANNELS, type Session, sessionsQuery, STATUS_TONES, wayOf } from './session-queries.js';

const route = getRouteApi('/shell/sessions');

const STATUSES = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['approved', 'Approved'],
  ['denied', 'Denied'],
  ['expired', 'Expired'],
  ['cancelled', 'Cancelled'],
] as const;
const MODES = [
  ['', 'Live and test'],
  ['live', 'Live'],
  ['test', 'Test'],
] as const;

const COLUMNS: readonly Column<Session>[] = [
  {
    name: 'Phone',
    value: ({ phone }) => phone,
    cell: ({ id, phone, test }) => (
      <>
        <Link to="/sessions/$id" params={{ id }}>
          <Phone number={phone} />
        </Link>{' '}
        {test === true && <Badge tone="warn">test</Badge>}
      </>
    ),
  },
  {
    name: 'Status',
    value: (row) => row.status,
    cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge>,
  },
  { name: 'Created', value: (row) => row.createdAt, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { name: 'Brand', value: (row) => row.brandSlug, cell: ({ brandSlug }) => brandSlug },
  { name: 'Country', value: (row) => row.country, cell: ({ country }) => country },
  { name: 'Channel', value: (row) => row.channel, cell: ({ channel }) => CHANNELS[channel] },
  { name: 'Approved by', value: wayOf, cell: wayOf },
  {
    name: 'Time',
    align: 'end',
    value: ({ latencyMs }) => latencyMs ?? 0,
    cell: ({ latencyMs }) => (latencyMs === null ? '–' : duration(latencyMs)),
  },
];

export function SessionsPage(): JSX.Element {
  const { phone, status, mode } = route.useSearch();
  const navigate = route.useNavigate();
  const search = { ...(phone === undefined ? {} : { phone }), ...(mode === undefined ? {} : { mode }) };
  const query = useInfiniteQuery(sessionsQuery(search));
  const filter = useMemo(
    () => (status === undefined ? undefined : (row: Session): boolean => row.status === status),
    [status],
  );
  const apply = (values: { readonly phone?: string; readonly status?: string; readonly mode?: string }): void =>
    void (values.phone?.startsWith('sess_') === true
      ? navigate({ to: '/sessions/$id', params: { id: values.phone } })
      : navigate({ search: values }));
  return (
    <Page
      title="Sessions"
      lead="Verifications, newest first. Open one for everything that happened to it."
      actions={<Button onPress={() => void query.refetch()}>{query.isRefetching ? 'Reading…' : 'Refresh'}</Button>}
    >
      <Filters<'phone' | 'status' | 'mode'> onApply={apply}>
        <TextField name="phone" label="Phone or session id" value={phone} placeholder="+14155552671 or sess_…" />
        <ChoiceField name="status" label="Status" value={status} choices={STATUSES} />
        <ChoiceField name="mode" label="Mode" value={mode} choices={MODES} />
      </Filters>
      <ListingTable
        query={query}
        what="sessions"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        {...(filter === undefined ? {} : { filter })}
        empty={
          phone === undefined && status === undefined && mode === undefined ? (
            <Empty title="No session yet">A session appears here as soon as a server calls POST /v1/verify.</Empty>
          ) : (
            <Empty title="No session matches">
              Write the phone with its country code, choose another status or mode, or load older sessions.
            </Empty>
          )
        }
      />
    </Page>
  );
}
