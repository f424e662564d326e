import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { ChoiceField, Filters, TextField } from '../ui/filters.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { Phone } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { FATE_TONES, fateName, type Fate, type Message, messagesQuery } from './message-queries.js';

const route = getRouteApi('/shell/messages');

const DIRECTIONS = [
  ['', 'Both'],
  ['in', 'From phones'],
  ['out', 'To phones'],
] as const;
const FATES = [
  ['', 'Any'] as const,
  ...(Object.keys(FATE_TONES) as Fate[]).map((fate) => [fate, fateName(fate)] as const),
];

const COLUMNS: readonly Column<Message>[] = [
  {
    name: 'Message',
    value: ({ direction }) => direction,
    cell: ({ id, direction, source, destination }) => (
      <Link to="/messages/$id" params={{ id }}>
        {direction === 'in' ? '← from ' : '→ to '}
        <Phone number={direction === 'in' ? source : destination} />
      </Link>
    ),
  },
  {
    name: 'Status',
    value: (row) => row.fate,
    cell: ({ fate }) => <Badge tone={FATE_TONES[fate]}>{fateName(fate)}</Badge>,
  },
  { name: 'Time', value: (row) => row.at, cell: ({ at }) => <Ago at={at} /> },
  { name: 'Carrier', value: (row) => row.carrier ?? '', cell: ({ carrier }) => carrier ?? '–' },
  { name: 'Attempts', align: 'end', value: (row) => row.attempts ?? 0, cell: ({ attempts }) => attempts ?? '–' },
  { name: 'Error', value: (row) => row.networkError ?? '', cell: ({ networkError }) => networkError ?? '–' },
  {
    name: 'Session',
    cell: ({ sessionId }) =>
      sessionId === null ? (
        <span className="soft">none</span>
      ) : (
        <Link to="/sessions/$id" params={{ id: sessionId }}>
          Open
        </Link>
      ),
  },
];

export function MessagesPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(messagesQuery(search));
  return (
    <Page
      title="Messages"
      lead="Every SMS from and to phones, newest first. Reading a text is recorded in the audit log."
      actions={<Button onPress={() => void query.refetch()}>{query.isRefetching ? 'Reading…' : 'Refresh'}</Button>}
    >
      <Filters<'phone' | 'direction' | 'fate' | 'sessionId'> onApply={(values) => void navigate({ search: values })}>
        <TextField name="phone" label="Phone" value={search.phone} placeholder="+14155552671" />
        <ChoiceField name="direction" label="Direction" value={search.direction} choices={DIRECTIONS} />
        <ChoiceField name="fate" label="Status" value={search.fate} choices={FATES} />
        <TextField name="sessionId" label="Session" value={search.sessionId} placeholder="sess_…" />
      </Filters>
      <ListingTable
        query={query}
        what="messages"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          Object.keys(search).length === 0 ? (
            <Empty title="No message yet">An SMS appears here when a phone sends one, or a code is sent to it.</Empty>
          ) : (
            <Empty title="No message matches">Remove a filter, or write the phone with its country code.</Empty>
          )
        }
      />
    </Page>
  );
}
