import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { isAtLeast, meQuery } from '../api/session.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { CopyText } from '../ui/texts.js';

type Account = Schemas['AccountAnswer'];

const accountsQuery = listing<Account>(['accounts'], (query, signal) =>
  dataOf(api.GET('/v1/admin/accounts', { params: { query }, signal })),
);

const columnsFor = (isOwner: boolean): readonly Column<Account>[] => [
  {
    name: 'Name',
    value: ({ name }) => name,
    cell: ({ id, name }) =>
      isOwner ? (
        <Link to="/quickstart" search={{ account: id }}>
          {name}
        </Link>
      ) : (
        <strong>{name}</strong>
      ),
  },
  { name: 'Id', cell: ({ id }) => <CopyText text={id} name="the id" /> },
  {
    name: 'State',
    value: ({ active }) => Number(active),
    cell: ({ active }) => <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'inactive'}</Badge>,
  },
  { name: 'Codes a day', align: 'end', cell: ({ otpDailyMessageCap }) => otpDailyMessageCap.toLocaleString('en') },
];

/** The accounts of the installation. An owner opens one and sees what its developers see. */
export function AccountsPage(): JSX.Element {
  const { data: me } = useSuspenseQuery(meQuery);
  const query = useInfiniteQuery(accountsQuery);
  const isOwner = me !== null && isAtLeast(me.role, 'owner');
  return (
    <Page
      title="Accounts"
      lead={
        isOwner
          ? 'Open an account to work on the pages of its developers: quickstart, keys, brands, webhook, requests and usage.'
          : 'Customers of this installation. Their own pages open for owners.'
      }
    >
      <ListingTable
        query={query}
        what="accounts"
        columns={columnsFor(isOwner)}
        keyOf={({ id }) => id}
        empty={<Empty title="No account yet">An owner makes one with POST /v1/admin/accounts.</Empty>}
      />
    </Page>
  );
}
