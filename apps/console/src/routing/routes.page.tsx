import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { linkNamesQuery } from '../api/names.js';
import { isAtLeast, meQuery } from '../api/session.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { Resolve } from './resolve.js';
import { type Route, routesQuery } from './route-queries.js';

function LinkName({ route: { bindId, smppSystemId } }: { readonly route: Route }): JSX.Element {
  const { data: names } = useQuery(linkNamesQuery);
  if (bindId === null) return <>{names?.get(smppSystemId ?? '') ?? smppSystemId ?? '–'} (system)</>;
  return (
    <Link to="/binds/$id" params={{ id: bindId }}>
      {names?.get(bindId) ?? bindId}
    </Link>
  );
}

const COLUMNS: readonly Column<Route>[] = [
  {
    name: 'Prefix',
    value: ({ prefix }) => prefix,
    cell: ({ prefix }) => <strong className="mono">{prefix === '+' ? '+ every number' : prefix}</strong>,
  },
  { name: 'Over', cell: (route) => <LinkName route={route} /> },
  { name: 'Priority', align: 'end', value: ({ priority }) => priority, cell: ({ priority }) => priority },
  { name: 'Weight', align: 'end', value: ({ weight }) => weight, cell: ({ weight }) => weight },
  { name: 'Cost', align: 'end', value: ({ costUsd }) => Number(costUsd), cell: ({ costUsd }) => `$${costUsd}` },
  {
    name: 'Sender',
    value: (row) => row.sourceAddress ?? '',
    cell: ({ sourceAddress }) => sourceAddress ?? 'of the brand',
  },
  {
    name: 'State',
    value: ({ enabled }) => (enabled ? 'on' : 'off'),
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'enabled' : 'disabled'}</Badge>,
  },
];

export function RoutesPage(): JSX.Element {
  const query = useInfiniteQuery(routesQuery);
  const { data: me } = useSuspenseQuery(meQuery);
  return (
    <Page
      title="Routes"
      lead="The ways of codes to phones. The longest prefix is tried first, then the lowest priority; weights share the codes."
    >
      {me !== null && isAtLeast(me.role, 'support') && <Resolve />}
      <ListingTable
        query={query}
        what="routes"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There is no route yet">
            No code can be sent. Create a route with <code>POST /v1/admin/routes</code>: the prefix + is every number.
          </Empty>
        }
      />
    </Page>
  );
}
