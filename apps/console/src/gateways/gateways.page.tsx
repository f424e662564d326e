import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { linkNamesQuery } from '../api/names.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { type Gateway, gatewaysQuery } from './gateway-queries.js';

/** A gateway sends a heartbeat every 5 s. */
const LATE_MS = 15_000;

function State({ gateway: { stopping, seenAt } }: { readonly gateway: Gateway }): JSX.Element {
  if (stopping) return <Badge tone="warn">stopping</Badge>;
  const isLate = Date.now() - Date.parse(seenAt) > LATE_MS;
  return isLate ? <Badge tone="bad">silent</Badge> : <Badge tone="good">running</Badge>;
}

function Leases({ gateway: { leases } }: { readonly gateway: Gateway }): JSX.Element {
  const { data: names } = useQuery(linkNamesQuery);
  if (leases.length === 0) return <span className="soft">none</span>;
  return (
    <ul>
      {leases.map(({ bindId, slot, state }) => (
        <li key={`${bindId} ${String(slot)}`}>
          <Link to="/binds/$id" params={{ id: bindId }}>
            {names?.get(bindId) ?? bindId}
          </Link>{' '}
          <span className={state === 'unbound' ? 'bad small' : 'soft small'}>
            connection {slot}, {state ?? 'no state yet'}
          </span>
        </li>
      ))}
    </ul>
  );
}

const COLUMNS: readonly Column<Gateway>[] = [
  {
    name: 'Gateway',
    value: ({ host }) => host,
    cell: ({ id, host }) => (
      <>
        <strong>{host}</strong>
        <br />
        <code className="gateway-id soft small">{id}</code>
      </>
    ),
  },
  { name: 'State', cell: (gateway) => <State gateway={gateway} /> },
  { name: 'Version', value: ({ version }) => version, cell: ({ version }) => version },
  { name: 'Started', value: ({ startedAt }) => startedAt, cell: ({ startedAt }) => <Ago at={startedAt} /> },
  { name: 'Heartbeat', value: ({ seenAt }) => seenAt, cell: ({ seenAt }) => <Ago at={seenAt} /> },
  { name: 'Bind connections', cell: (gateway) => <Leases gateway={gateway} /> },
  {
    name: 'From systems',
    align: 'end',
    value: (row) => row.systemConnections,
    cell: (row) => row.systemConnections,
  },
];

export function GatewaysPage(): JSX.Element {
  const query = useInfiniteQuery(gatewaysQuery);
  return (
    <Page
      title="Gateways"
      lead="The processes that hold the connections to carriers. Another gateway takes over the connections of one that stops."
    >
      <ListingTable
        query={query}
        what="gateways"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<Empty title="No gateway is running">Start one: without it no SMS is sent or received.</Empty>}
      />
    </Page>
  );
}
